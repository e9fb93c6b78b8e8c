"""The mathematics of censored bandits as pure functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.theory.anytime.confidence import (
        ConfidenceLimits,
        confidence_sequence,
        tightest_rho,
    )
    from halfseen.theory.anytime.evidence import evidence
    from halfseen.theory.anytime.winning_action import WinningAction, winning_action
    from halfseen.theory.anytime.winning_arm import Winner, winner
    from halfseen.theory.arms.adaptivity import (
        OfflinePotential,
        adaptive_potential,
        adaptivity_constant,
        offline_potential,
    )
    from halfseen.theory.arms.bounds import regret_bounds
    from halfseen.theory.arms.capped_instance import CappedInstance, capped_instance_bound
    from halfseen.theory.arms.dimension import (
        DimensionByArm,
        dimension_by_arm,
        effective_dimension,
        feedback_value,
        instance_dimension,
    )
    from halfseen.theory.arms.late_look import late_look_constant, look_gain
    from halfseen.theory.arms.looks import (
        PlannedPotential,
        freely_monitored_potential,
        monitored_potential,
    )
    from halfseen.theory.arms.monitoring import MonitoringConstant, monitoring_constant
    from halfseen.theory.arms.open_decisions import expected_under_way, most_under_way
    from halfseen.theory.arms.potential import fluid_potential, joint_potential, papers_potential
    from halfseen.theory.arms.second_order import SecondOrderPotential, second_order_potential
    from halfseen.theory.arms.single_look import MonitoredPotential, single_monitoring_potential
    from halfseen.theory.arms.water_filling import WaterFilling, water_filling
    from halfseen.theory.ellipsoid import FarthestPoint, farthest_point
    from halfseen.theory.events import (
        censoring_failure_probability,
        event_frequencies,
        optimism_failure_probability,
    )
    from halfseen.theory.glm.bounds import glm_potential_bound, glm_regret_bounds, papers_order
    from halfseen.theory.glm.exploration import Exploration, exploration, exploration_rounds
    from halfseen.theory.glm.widths import glm_confidence_factor, glm_width_constant
    from halfseen.theory.linear.bounds import (
        confidence_factor,
        linear_regret_bounds,
        papers_potential_control,
    )
    from halfseen.theory.linear.largest_potential import WorstCase
    from halfseen.theory.linear.layer_cake import layered_potential
    from halfseen.theory.linear.norm_sums import (
        NormSum,
        TracePotential,
        sphere_norm_sum,
        tight_norm_sum,
        trace_potential,
        trace_potential_factor,
    )
    from halfseen.theory.linear.optimal_design import OptimalDesign, optimal_design_dimension
    from halfseen.theory.linear.path import InformationPath, Phase, information_path
    from halfseen.theory.linear.potential import (
        censoring_factor,
        continuous_potential_bracket,
        elliptical_potential,
        expected_potential_bound,
        expected_slope,
        papers_censoring_factor,
        potential_control_factor,
    )
    from halfseen.theory.linear.potential_limits import PotentialBounds, potential_bounds
    from halfseen.theory.linear.reachability import (
        Reachability,
        SmallestDimension,
        bi_region_dimension,
        dual_reachability_threshold,
        reachability_threshold,
        smallest_bi_region_dimension,
    )
    from halfseen.theory.linear.regions import region_actions
    from halfseen.theory.linear.worst_case import worst_case_dimension, worst_case_potential
    from halfseen.theory.lower.asymptotic import AsymptoticLowerBound, asymptotic_lower_bound
    from halfseen.theory.lower.finite_time import FiniteLowerBound, finite_lower_bound
    from halfseen.theory.lower.gathered import LowerBounds, lower_bounds
    from halfseen.theory.lower.identification import IdentificationTime, identification_time
    from halfseen.theory.lower.minimax import MinimaxLowerBound, minimax_lower_bound
    from halfseen.theory.proved_bounds import Bound, RegretBounds

__all__ = [
    "AsymptoticLowerBound",
    "Bound",
    "CappedInstance",
    "ConfidenceLimits",
    "DimensionByArm",
    "Exploration",
    "FarthestPoint",
    "FiniteLowerBound",
    "IdentificationTime",
    "InformationPath",
    "LowerBounds",
    "MinimaxLowerBound",
    "MonitoredPotential",
    "MonitoringConstant",
    "NormSum",
    "OfflinePotential",
    "OptimalDesign",
    "Phase",
    "PlannedPotential",
    "PotentialBounds",
    "Reachability",
    "RegretBounds",
    "SecondOrderPotential",
    "SmallestDimension",
    "TracePotential",
    "WaterFilling",
    "Winner",
    "WinningAction",
    "WorstCase",
    "adaptive_potential",
    "adaptivity_constant",
    "asymptotic_lower_bound",
    "bi_region_dimension",
    "capped_instance_bound",
    "censoring_factor",
    "censoring_failure_probability",
    "confidence_factor",
    "confidence_sequence",
    "continuous_potential_bracket",
    "dimension_by_arm",
    "dual_reachability_threshold",
    "effective_dimension",
    "elliptical_potential",
    "event_frequencies",
    "evidence",
    "expected_potential_bound",
    "expected_slope",
    "expected_under_way",
    "exploration",
    "exploration_rounds",
    "farthest_point",
    "feedback_value",
    "finite_lower_bound",
    "fluid_potential",
    "freely_monitored_potential",
    "glm_confidence_factor",
    "glm_potential_bound",
    "glm_regret_bounds",
    "glm_width_constant",
    "identification_time",
    "information_path",
    "instance_dimension",
    "joint_potential",
    "late_look_constant",
    "layered_potential",
    "linear_regret_bounds",
    "look_gain",
    "lower_bounds",
    "minimax_lower_bound",
    "monitored_potential",
    "monitoring_constant",
    "most_under_way",
    "offline_potential",
    "optimal_design_dimension",
    "optimism_failure_probability",
    "papers_censoring_factor",
    "papers_order",
    "papers_potential",
    "papers_potential_control",
    "potential_bounds",
    "potential_control_factor",
    "reachability_threshold",
    "region_actions",
    "regret_bounds",
    "second_order_potential",
    "single_monitoring_potential",
    "smallest_bi_region_dimension",
    "sphere_norm_sum",
    "tight_norm_sum",
    "tightest_rho",
    "trace_potential",
    "trace_potential_factor",
    "water_filling",
    "winner",
    "winning_action",
    "worst_case_dimension",
    "worst_case_potential",
]

_HOMES = {
    "anytime.confidence": ("ConfidenceLimits", "confidence_sequence", "tightest_rho"),
    "anytime.evidence": ("evidence",),
    "anytime.winning_action": ("WinningAction", "winning_action"),
    "anytime.winning_arm": ("Winner", "winner"),
    "arms.adaptivity": (
        "OfflinePotential",
        "adaptive_potential",
        "adaptivity_constant",
        "offline_potential",
    ),
    "arms.bounds": ("regret_bounds",),
    "proved_bounds": ("Bound", "RegretBounds"),
    "arms.capped_instance": ("CappedInstance", "capped_instance_bound"),
    "arms.dimension": (
        "DimensionByArm",
        "dimension_by_arm",
        "effective_dimension",
        "feedback_value",
        "instance_dimension",
    ),
    "ellipsoid": ("FarthestPoint", "farthest_point"),
    "events": (
        "censoring_failure_probability",
        "event_frequencies",
        "optimism_failure_probability",
    ),
    "glm.bounds": ("glm_potential_bound", "glm_regret_bounds", "papers_order"),
    "glm.exploration": ("Exploration", "exploration", "exploration_rounds"),
    "glm.widths": ("glm_confidence_factor", "glm_width_constant"),
    "arms.late_look": ("late_look_constant", "look_gain"),
    "linear.layer_cake": ("layered_potential",),
    "linear.bounds": (
        "confidence_factor",
        "linear_regret_bounds",
        "papers_potential_control",
    ),
    "linear.potential": (
        "censoring_factor",
        "continuous_potential_bracket",
        "elliptical_potential",
        "expected_potential_bound",
        "expected_slope",
        "papers_censoring_factor",
        "potential_control_factor",
    ),
    "arms.looks": ("PlannedPotential", "freely_monitored_potential", "monitored_potential"),
    "arms.monitoring": ("MonitoringConstant", "monitoring_constant"),
    "arms.single_look": ("MonitoredPotential", "single_monitoring_potential"),
    "linear.norm_sums": (
        "NormSum",
        "TracePotential",
        "sphere_norm_sum",
        "tight_norm_sum",
        "trace_potential",
        "trace_potential_factor",
    ),
    "linear.optimal_design": ("OptimalDesign", "optimal_design_dimension"),
    "linear.path": ("InformationPath", "Phase", "information_path"),
    "arms.open_decisions": ("expected_under_way", "most_under_way"),
    "arms.potential": ("fluid_potential", "joint_potential", "papers_potential"),
    "linear.reachability": (
        "Reachability",
        "SmallestDimension",
        "bi_region_dimension",
        "dual_reachability_threshold",
        "reachability_threshold",
        "smallest_bi_region_dimension",
    ),
    "linear.potential_limits": ("PotentialBounds", "potential_bounds"),
    "linear.regions": ("region_actions",),
    "arms.second_order": ("SecondOrderPotential", "second_order_potential"),
    "arms.water_filling": ("WaterFilling", "water_filling"),
    "lower.asymptotic": ("AsymptoticLowerBound", "asymptotic_lower_bound"),
    "lower.finite_time": ("FiniteLowerBound", "finite_lower_bound"),
    "lower.gathered": ("LowerBounds", "lower_bounds"),
    "lower.identification": ("IdentificationTime", "identification_time"),
    "lower.minimax": ("MinimaxLowerBound", "minimax_lower_bound"),
    "linear.largest_potential": ("WorstCase",),
    "linear.worst_case": ("worst_case_dimension", "worst_case_potential"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"halfseen.theory.{module}"), name)
    from halfseen.errors import no_such_name

    raise no_such_name(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
