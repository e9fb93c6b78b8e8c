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
    from halfseen.theory.events import (
        censoring_failure_probability,
        event_frequencies,
        optimism_failure_probability,
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
    "MonitoredPotential",
    "MonitoringConstant",
    "OfflinePotential",
    "RegretBounds",
    "SecondOrderPotential",
    "WaterFilling",
    "adaptive_potential",
    "adaptivity_constant",
    "censoring_failure_probability",
    "effective_dimension",
    "event_frequencies",
    "feedback_value",
    "fluid_potential",
    "instance_dimension",
    "joint_potential",
    "monitoring_constant",
    "offline_potential",
    "optimism_failure_probability",
    "papers_potential",
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
    "events": (
        "censoring_failure_probability",
        "event_frequencies",
        "optimism_failure_probability",
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
