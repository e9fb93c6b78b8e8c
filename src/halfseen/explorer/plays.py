"""Live simulation of regret: replications are averaged as they finish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from halfseen.explorer import chart_parts as parts
from halfseen.explorer.view import Picture, View
from halfseen.studies.in_batches import regret_in_batches
from halfseen.studies.student_intervals import half_widths

BATCH_SECONDS = 0.15  # seconds after which another client has a turn


def played_picture(view: View) -> Picture | None:
    """Return the empty chart to which updates are added."""
    study = view.study()
    if study is None:
        return None
    names = list(study.policies)
    x = parts.axis("round", "round", scale={"domain": [0, study.horizon], "nice": False})
    colour = parts.colours("policy", names, columns=2, labelLimit=300)
    band = {
        "mark": {"type": "area", "opacity": 0.18},
        "encoding": {
            "x": x,
            "y": parts.axis("low", "regret"),
            "y2": {"field": "high"},
            "color": colour,
        },
    }
    line = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": parts.axis("mean", "regret"),
            "color": colour,
            "tooltip": [
                {"field": "policy"},
                *parts.told(("round", "round"), ("mean", "regret")),
            ],
        },
    }
    return Picture(
        "played",
        "Regret, simulated now",
        "Mean regret with its 95% interval, updated as replications finish.",
        parts.chart([band, line], height=300),
        [{"policy": name, "round": 0, "mean": 0.0, "low": 0.0, "high": 0.0} for name in names],
    )


def updates(view: View) -> Iterator[dict[str, Any]]:
    """Yield the mean regret of every policy after each batch of replications."""
    study = view.study()
    if study is None:
        return
    rounds = study.rounds_recorded.tolist()
    for regret in regret_in_batches(study, BATCH_SECONDS):
        count = regret.shape[1]
        mean = regret.mean(axis=1)
        half = half_widths(regret.std(axis=1, ddof=1) / np.sqrt(count), count)
        rows = [
            {
                "policy": name,
                "round": at,
                "mean": float(mean[i, j]),
                "low": max(0.0, float(mean[i, j] - half[i, j])),
                "high": float(mean[i, j] + half[i, j]),
            }
            for i, name in enumerate(study.policies)
            for j, at in enumerate(rounds)
        ]
        yield {"done": count, "total": study.replications, "rows": rows}
