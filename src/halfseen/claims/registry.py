"""Every claim, by family, and the run of all or some of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib import import_module

from halfseen import checks
from halfseen.claims.claim import Claim, Finding
from halfseen.claims.laboratory import Laboratory
from halfseen.errors import InvalidInput, nearest_few, suggestion

# One module per family; each defines its claims with the decorator `claim`.
FAMILIES = (
    "arms.events",
    "arms.potential",
    "arms.filling",
    "arms.regret",
    "arms.scaling",
    "arms.adaptivity",
    "arms.closed_forms",
    "linear.events",
    "linear.potential",
    "linear.sums",
    "linear.path",
    "linear.dimension",
    "linear.limits",
    "linear.worst_case",
    "linear.order",
    "threshold_models",
    "linear.regret",
    "linear.laws",
    "glm",
    "lower_bounds",
    "arms.late_feedback",
)


@cache
def claims() -> dict[str, Claim]:
    """Return every claim by its name, in the order they are listed."""
    found = [
        value
        for family in FAMILIES
        for value in vars(import_module(f"halfseen.claims.{family}")).values()
        if isinstance(value, Claim)
    ]
    named = {claim.name: claim for claim in found}
    assert len(named) == len(found), "two claims share a name"
    return named


def verify(
    names: Sequence[str] | None = None,
    *,
    quick: bool = True,
    seed: int = 1,
    workers: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Finding]:
    """Run the experiments of claims and return their findings.

    Parameters
    ----------
    names
        Names of claims; all of them by default.
    quick
        Use small sizes, which take about a minute in total; otherwise several minutes.
    seed
        One whole number for all simulations.
    workers
        Number of threads; all cores by default.
    progress
        Called with the number of claims done, the total and the name of the one that is running.

    Returns
    -------
    list of Finding
        In the order the claims are listed.

    Examples
    --------
    >>> [finding] = verify(["water-filling"])
    >>> finding.verdict, finding.as_recorded
    ('holds', True)
    """
    return list(findings(names, quick=quick, seed=seed, workers=workers, progress=progress))


def findings(
    names: Sequence[str] | None,
    *,
    quick: bool,
    seed: int,
    workers: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Iterator[Finding]:
    """Yield the finding of each experiment as soon as it is done."""
    chosen = selected(names)
    laboratory = Laboratory(quick, checks.seed("seed", seed), workers)
    for done, claim in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), claim.name)
        started = time.perf_counter()
        evidence = claim.run(laboratory)
        yield Finding(claim, evidence, time.perf_counter() - started)


def selected(names: Sequence[str] | None) -> list[Claim]:
    """Return the claims with these names, or all."""
    known = claims()
    if names is None:
        return list(known.values())
    if not names:
        raise InvalidInput("claim", "must name at least one claim", names, "Leave it out for all.")
    for name in names:
        if name not in known:
            raise InvalidInput("claim", "must be the name of a claim", name, _nearest(name, known))
    return [known[name] for name in names]


def _nearest(name: str, known: Collection[str]) -> str:
    """Return a sentence that suggests the claims most similar to a mistyped name."""
    near = [other for other in known if len(name) > 3 and name in other]
    near = near or nearest_few(name, known, 3, 0.75) or nearest_few(name, known, 3, 0.5)
    return suggestion(near[:4]) or "`halfseen verify --list` prints their names."
