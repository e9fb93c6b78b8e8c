"""Regret played while one watches: ever more replications, averaged as they come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from halfseen.explorer import chart_parts as parts
from halfseen.explorer.view import Picture, View
from halfseen.studies.simulate import simulate
from halfseen.tables import Z95

BATCHES = (4, 4, 8, 16, 32, 64)  # replications of each update


def played_picture(view: View) -> Picture | None:
    """Return the chart that updates are drawn into, still empty."""
    study = view.study(1, 1)
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
        "Mean regret with its 95% interval, over ever more replications.",
        parts.chart([band, line], height=300),
        [{"policy": name, "round": 0, "mean": 0.0, "low": 0.0, "high": 0.0} for name in names],
    )


def updates(view: View, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the mean regret of every policy after each batch of replications.

    Parameters
    ----------
    view
        What to play.
    seed
        Of the first batch; the others take the following ones.
    """
    total = sum(BATCHES)
    regret: np.ndarray | None = None
    for place, batch in enumerate(BATCHES):
        study = view.study(batch, seed + place)
        if study is None:
            return
        data = simulate(study).data["regret"].isel(problem=0, censorship=0)
        found = data.transpose("policy", "checkpoint", "replication").values
        regret = found if regret is None else np.concatenate([regret, found], axis=2)
        count = regret.shape[2]
        mean = regret.mean(axis=2)
        half = Z95 * regret.std(axis=2, ddof=1) / np.sqrt(count)
        rounds = data["checkpoint"].values.tolist()
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
        yield {"done": count, "total": total, "rows": rows}
