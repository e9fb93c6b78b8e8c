"""The mathematics as pure functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.theory.adaptivity import (
        OfflinePotential,
        adaptive_potential,
        adaptivity_constant,
        offline_potential,
    )
    from halfseen.theory.bounds import Bound, RegretBounds, regret_bounds
    from halfseen.theory.dimension import effective_dimension, feedback_value, instance_dimension
    from halfseen.theory.ellipsoid import FarthestPoint, farthest_point
    from halfseen.theory.events import (
        censoring_failure_probability,
        event_frequencies,
        optimism_failure_probability,
    )
    from halfseen.theory.glm_bounds import (
        glm_confidence_factor,
        glm_potential_bound,
        glm_regret_bounds,
        papers_order,
    )
    from halfseen.theory.glm_exploration import Exploration, exploration, exploration_rounds
    from halfseen.theory.linear_bounds import (
        confidence_factor,
        linear_regret_bounds,
        papers_potential_control,
    )
    from halfseen.theory.linear_potential import (
        censoring_factor,
        continuous_potential_bracket,
        elliptical_potential,
        expected_potential_bound,
        expected_slope,
        papers_censoring_factor,
        potential_control_factor,
    )
    from halfseen.theory.monitoring import (
        MonitoredPotential,
        MonitoringConstant,
        monitoring_constant,
        single_monitoring_potential,
    )
    from halfseen.theory.potential import fluid_potential, joint_potential, papers_potential
    from halfseen.theory.second_order import SecondOrderPotential, second_order_potential
    from halfseen.theory.waterfilling import WaterFilling, water_filling

__all__ = [
    "Bound",
    "Exploration",
    "FarthestPoint",
    "MonitoredPotential",
    "MonitoringConstant",
    "OfflinePotential",
    "RegretBounds",
    "SecondOrderPotential",
    "WaterFilling",
    "adaptive_potential",
    "adaptivity_constant",
    "censoring_factor",
    "censoring_failure_probability",
    "confidence_factor",
    "continuous_potential_bracket",
    "effective_dimension",
    "elliptical_potential",
    "event_frequencies",
    "expected_potential_bound",
    "expected_slope",
    "exploration",
    "exploration_rounds",
    "farthest_point",
    "feedback_value",
    "fluid_potential",
    "glm_confidence_factor",
    "glm_potential_bound",
    "glm_regret_bounds",
    "instance_dimension",
    "joint_potential",
    "linear_regret_bounds",
    "monitoring_constant",
    "offline_potential",
    "optimism_failure_probability",
    "papers_censoring_factor",
    "papers_order",
    "papers_potential",
    "papers_potential_control",
    "potential_control_factor",
    "regret_bounds",
    "second_order_potential",
    "single_monitoring_potential",
    "water_filling",
]

_HOMES = {
    "adaptivity": (
        "OfflinePotential",
        "adaptive_potential",
        "adaptivity_constant",
        "offline_potential",
    ),
    "bounds": ("Bound", "RegretBounds", "regret_bounds"),
    "dimension": ("effective_dimension", "feedback_value", "instance_dimension"),
    "ellipsoid": ("FarthestPoint", "farthest_point"),
    "events": (
        "censoring_failure_probability",
        "event_frequencies",
        "optimism_failure_probability",
    ),
    "glm_bounds": (
        "glm_confidence_factor",
        "glm_potential_bound",
        "glm_regret_bounds",
        "papers_order",
    ),
    "glm_exploration": ("Exploration", "exploration", "exploration_rounds"),
    "linear_bounds": (
        "confidence_factor",
        "linear_regret_bounds",
        "papers_potential_control",
    ),
    "linear_potential": (
        "censoring_factor",
        "continuous_potential_bracket",
        "elliptical_potential",
        "expected_potential_bound",
        "expected_slope",
        "papers_censoring_factor",
        "potential_control_factor",
    ),
    "monitoring": (
        "MonitoredPotential",
        "MonitoringConstant",
        "monitoring_constant",
        "single_monitoring_potential",
    ),
    "potential": ("fluid_potential", "joint_potential", "papers_potential"),
    "second_order": ("SecondOrderPotential", "second_order_potential"),
    "waterfilling": ("WaterFilling", "water_filling"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"halfseen.theory.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
