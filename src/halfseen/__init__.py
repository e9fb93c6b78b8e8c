"""Bandits when feedback goes missing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen import datasets as datasets
    from halfseen import theory as theory
    from halfseen.agent import Agent as Agent
    from halfseen.censorship import AnyFunction as AnyFunction
    from halfseen.censorship import LinkModel as LinkModel
    from halfseen.censorship import Logistic as Logistic
    from halfseen.censorship import MultiThreshold as MultiThreshold
    from halfseen.censorship import PerAction as PerAction
    from halfseen.censorship import PerArm as PerArm
    from halfseen.censorship import Population as Population
    from halfseen.censorship import Uniform as Uniform
    from halfseen.censorship import staircase as staircase
    from halfseen.errors import DecisionError as DecisionError
    from halfseen.errors import HalfseenError as HalfseenError
    from halfseen.errors import InvalidInput as InvalidInput
    from halfseen.errors import StorageError as StorageError
    from halfseen.glm_agent import GLMAgent as GLMAgent
    from halfseen.linear_agent import LinearAgent as LinearAgent
    from halfseen.logs.audit import Audit as Audit
    from halfseen.logs.audit import audit as audit
    from halfseen.logs.direction import fit_direction as fit_direction
    from halfseen.logs.direction_fit import DirectionFit as DirectionFit
    from halfseen.logs.imputation import compare_imputations as compare_imputations
    from halfseen.logs.invest import Investment as Investment
    from halfseen.logs.invest import invest as invest
    from halfseen.logs.plan import Plan as Plan
    from halfseen.logs.plan import plan as plan
    from halfseen.logs.window import Window as Window
    from halfseen.logs.window import feedback_window as feedback_window
    from halfseen.policies import GLMUCB as GLMUCB
    from halfseen.policies import UCB as UCB
    from halfseen.policies import UCB1 as UCB1
    from halfseen.policies import BernoulliThompson as BernoulliThompson
    from halfseen.policies import DesignExploration as DesignExploration
    from halfseen.policies import DoublyRobust as DoublyRobust
    from halfseen.policies import EpsilonGreedy as EpsilonGreedy
    from halfseen.policies import GaussianThompson as GaussianThompson
    from halfseen.policies import GLMPolicy as GLMPolicy
    from halfseen.policies import GLMThompson as GLMThompson
    from halfseen.policies import ImputeMean as ImputeMean
    from halfseen.policies import ImputeZero as ImputeZero
    from halfseen.policies import ImputeZeroGLMUCB as ImputeZeroGLMUCB
    from halfseen.policies import ImputeZeroLinUCB as ImputeZeroLinUCB
    from halfseen.policies import InformationGreedy as InformationGreedy
    from halfseen.policies import InversePropensity as InversePropensity
    from halfseen.policies import LinearPolicy as LinearPolicy
    from halfseen.policies import LinEpsilonGreedy as LinEpsilonGreedy
    from halfseen.policies import LinRandom as LinRandom
    from halfseen.policies import LinThompson as LinThompson
    from halfseen.policies import LinUCB as LinUCB
    from halfseen.policies import MostCensored as MostCensored
    from halfseen.policies import OptimalOrder as OptimalOrder
    from halfseen.policies import Policy as Policy
    from halfseen.policies import RandomChoice as RandomChoice
    from halfseen.policies import RidgeGLMUCB as RidgeGLMUCB
    from halfseen.policies import RobustUCB as RobustUCB
    from halfseen.policies import register as register
    from halfseen.problems import AllArms as AllArms
    from halfseen.problems import ArmedBandit as ArmedBandit
    from halfseen.problems import FiniteActions as FiniteActions
    from halfseen.problems import FixedArms as FixedArms
    from halfseen.problems import GeneralizedLinearBandit as GeneralizedLinearBandit
    from halfseen.problems import LinearBandit as LinearBandit
    from halfseen.problems import Link as Link
    from halfseen.problems import RandomActions as RandomActions
    from halfseen.problems import RandomArms as RandomArms
    from halfseen.problems import SampledActions as SampledActions
    from halfseen.problems import SequenceOfActions as SequenceOfActions
    from halfseen.problems import SequenceOfArms as SequenceOfArms
    from halfseen.problems import UnitBall as UnitBall
    from halfseen.result import Result as Result
    from halfseen.simulation import simulate as simulate
    from halfseen.spec import read_spec as read_spec
    from halfseen.study import Study as Study
    from halfseen.summary import Summary as Summary
    from halfseen.summary import summarize as summarize

_HOMES = {
    "agent": ("Agent",),
    "glm_agent": ("GLMAgent",),
    "linear_agent": ("LinearAgent",),
    "censorship": (
        "AnyFunction",
        "LinkModel",
        "Logistic",
        "MultiThreshold",
        "PerAction",
        "PerArm",
        "Population",
        "Uniform",
        "staircase",
    ),
    "errors": ("DecisionError", "HalfseenError", "InvalidInput", "StorageError"),
    "logs.audit": ("Audit", "audit"),
    "logs.direction": ("fit_direction",),
    "logs.direction_fit": ("DirectionFit",),
    "logs.imputation": ("compare_imputations",),
    "logs.invest": ("Investment", "invest"),
    "logs.plan": ("Plan", "plan"),
    "logs.window": ("Window", "feedback_window"),
    "policies": (
        "UCB",
        "UCB1",
        "BernoulliThompson",
        "EpsilonGreedy",
        "GaussianThompson",
        "DoublyRobust",
        "ImputeMean",
        "ImputeZero",
        "InversePropensity",
        "Policy",
        "RandomChoice",
        "RobustUCB",
        "register",
        "DesignExploration",
        "GLMPolicy",
        "GLMThompson",
        "GLMUCB",
        "ImputeZeroGLMUCB",
        "RidgeGLMUCB",
        "ImputeZeroLinUCB",
        "LinEpsilonGreedy",
        "LinRandom",
        "LinThompson",
        "LinUCB",
        "LinearPolicy",
        "InformationGreedy",
        "MostCensored",
        "OptimalOrder",
    ),
    "problems": (
        "AllArms",
        "ArmedBandit",
        "FiniteActions",
        "FixedArms",
        "GeneralizedLinearBandit",
        "LinearBandit",
        "Link",
        "RandomActions",
        "RandomArms",
        "SampledActions",
        "SequenceOfActions",
        "SequenceOfArms",
        "UnitBall",
    ),
    "result": ("Result",),
    "simulation": ("simulate",),
    "spec": ("read_spec",),
    "study": ("Study",),
    "summary": ("Summary", "summarize"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["datasets", "theory", *sorted(_HOME_OF)]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in ("datasets", "theory"):
        return import_module(f"halfseen.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'halfseen' has no attribute {name!r}")
    value = getattr(import_module(f"halfseen.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
