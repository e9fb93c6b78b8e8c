"""Off-policy evaluation on the loop's own log."""

from __future__ import annotations

import asyncio
import math
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from halfseen.dashboard.dashboard_site import LATER, Site, with_later
from halfseen.dashboard.log_summary import with_log
from halfseen.dashboard.loop_figures import text
from halfseen.dashboard.sign_in import Visitor
from halfseen.errors import HalfseenError, InvalidInput
from halfseen.explorer.arm_labels import arm_labels
from halfseen.service.problem_documents import NotFound, problem_of
from halfseen.values.evaluate import value
from halfseen.values.policy_value import PolicyValue

MOST = 50  # arms of the form


class ValuePage:
    """The page that evaluates another policy."""

    def __init__(self, site: Site) -> None:
        self.site, self.service = site, site.service
        self._one = asyncio.Semaphore(1)

    async def show(self, request: Request, visitor: Visitor) -> Response:
        """Show the form, and the value of the requested policy."""
        name = request.path_params["loop"]
        known = self.service.config(name).arms or []
        if not known:
            raise NotFound(
                f"The loop {name} chooses among features, not arms.",
                fix="Export its log and use halfseen value.",
            )
        arms = known[:MOST]
        query = dict(request.query_params)
        target, trouble = None, ""
        if any(query.get(f"p{place}") for place in range(len(arms))):
            try:
                target = target_of(arms, query)
            except HalfseenError as error:
                trouble = str(error)
        decided = self.service.loop(name).state.tally.decided
        page = self.site.html(
            request,
            visitor,
            "value.html",
            422 if trouble else 200,
            title=f"Value of another policy for {name}",
            name=name,
            arms=[
                (place, arm, label, query.get(f"p{place}", ""))
                for place, (arm, label) in enumerate(zip(arms, arm_labels(arms), strict=True))
            ],
            more=len(known) - len(arms),
            trouble=trouble,
            computing="" if target is None else text(decided),
            later=LATER,
        )
        return page if target is None else with_later(page, lambda: self._found(name, target))

    async def _found(self, name: str, target: dict[str, float]) -> str:
        """Return the value of a policy as HTML."""
        found, trouble = None, ""
        try:
            async with self._one:
                found = await with_log(self.service, name, lambda file: value_of(file, target))
        except Exception as error:
            trouble = str(problem_of(error))
            if not isinstance(error, HalfseenError):
                traceback.print_exception(error, file=sys.stderr)
        content = {
            "trouble": trouble,
            "answers": [] if found is None else found.answers,
            "warnings": [] if found is None else [str(said) for said in found.warnings],
            "columns": [] if found is None else found.estimates.columns,
            "rows": []
            if found is None
            else [[text(v) for v in row] for row in found.estimates.rows],
            "assumption": "" if found is None else found.assumption,
        }
        return self.site.parts(["value_found.html"], **content)["value_found.html"]


def target_of(arms: list[str], query: Mapping[str, str]) -> dict[str, float]:
    """Return the probabilities that a form gives, which sum to 1.

    >>> target_of(["a", "b"], {"p0": "70", "p1": "30"})
    {'a': 0.7, 'b': 0.3}
    """
    given = {}
    for place, arm in enumerate(arms):
        written = query.get(f"p{place}", "").strip().rstrip("%") or "0"
        try:
            share = float(written)
        except ValueError:
            share = math.nan
        if not 0.0 <= share <= 100.0:
            raise InvalidInput(arm, "must be a percentage from 0 to 100", written, "Correct it.")
        given[arm] = share / 100.0
    total = math.fsum(given.values())
    if abs(total - 1.0) > 1e-6:
        raise InvalidInput(
            "percentages", "must sum to 100", round(100.0 * total, 6), "Correct one of them."
        )
    return {arm: share / total for arm, share in given.items() if share > 0.0}


def value_of(file: Path, target: dict[str, float]) -> PolicyValue:
    """Return the value of a policy from the decisions of a log; pending rewards count as missing.

    Excluding them would bias the mix of arms: decisions without a reward settle later.
    """
    options: Any = {"action": "arm", "reward": "reward", "propensity": "propensity"}
    return value(file, target=target, where="state <> 'held'", **options)
