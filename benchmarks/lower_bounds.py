"""The Graves-Lai constant with its certificate."""

import time

import numpy as np

from halfseen.theory.lower.graves_lai import graves_lai

COUNT, DIMENSION = 20, 8


def constant():
    """Return the row: CPU time for 20 actions of 8 coordinates, and the gap to the certificate."""
    rows = np.cos(np.outer(np.arange(1, COUNT + 1), np.arange(1, DIMENSION + 1)))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    means = rows @ (1.0 / np.arange(1, DIMENSION + 1))
    gaps, best = means.max() - means, int(means.argmax())
    observe = np.where(np.arange(COUNT) % 3 == 0, 0.05, 0.8)
    seconds = []
    for _ in range(20):
        started = time.process_time()
        found = graves_lai(rows, gaps, observe, 0.3, best)
        seconds.append(time.process_time() - started)
    gap = 1.0 - found.certificate / found.constant
    return [
        {
            "benchmark": f"Graves-Lai constant, {COUNT} actions, {DIMENSION} coordinates",
            "halfseen": f"{1e3 * min(seconds):.3g} ms",
            "other": f"gap to the certificate {max(gap, 0.0):.1g}",
            "ratio": None,
            "target": "< 20 ms, gap <= 1e-8",
        }
    ]
