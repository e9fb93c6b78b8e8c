"""All loops at a glance, and one loop: as pages, and as a stream of what changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from halfseen.dashboard.dashboard_site import Site
from halfseen.dashboard.log_summary import LogSummary, Summaries
from halfseen.dashboard.loop_charts import live_pictures, log_pictures
from halfseen.dashboard.loop_figures import (
    SHOWN,
    decisions_a_minute,
    duration,
    investment,
    loop_cells,
    overview_row,
    pending_ages,
    played_next,
    share_text,
    text,
)
from halfseen.dashboard.sign_in import Visitor, visitor_of
from halfseen.explorer.page_files import SAFE
from halfseen.logs.audit_export import plain
from halfseen.service.loop_status import loop_status

EVERY = 1.0  # seconds between two looks at what changed
HEARTBEAT = 15  # looks after which something is sent in any case
COLUMNS = ("rate", "decided", "seen", "pending", "dimension", "factor", "winner")
ORDER = ("seen", "estimates", "course", "chances", "pending", "delays")  # of the charts
Look = Callable[[], Awaitable[dict[str, Any]]]


class LoopPages:
    """The pages that show loops."""

    def __init__(self, site: Site) -> None:
        self.site, self.service = site, site.service
        self.summaries = Summaries(site.service)

    async def overview(self, request: Request, visitor: Visitor) -> Response:
        """Show all loops at a glance."""
        rows = [await self._row(config.name, True) for config in self.service.loops()]
        return self.site.html(
            request,
            visitor,
            "loops.html",
            title="Loops",
            here="/",
            rows=rows,
            columns=COLUMNS,
            read_only=self.service.read_only,
        )

    async def _row(self, name: str, wait: bool) -> dict[str, Any]:
        live = self.service.loop(name)
        summary = await self.summaries.awaited(name) if wait else self.summaries.newest(name)
        found = await overview_row(self.service, live, summary, self.service.clock())
        return found | {"warnings": _warnings_in_words(summary)}

    async def overview_live(self, request: Request, visitor: Visitor) -> Response:
        """Stream the numbers of all loops."""

        async def look() -> dict[str, Any]:
            cells: dict[str, str] = {}
            for config in self.service.loops():
                row = await self._row(config.name, False)
                cells |= {f"{config.name}/{c}": row[c] for c in (*COLUMNS, "warnings")}
            return {"cells": cells}

        return self._stream(request, look)

    async def loop(self, request: Request, visitor: Visitor) -> Response:
        """Show one loop."""
        name = request.path_params["loop"]
        live = self.service.loop(name)
        summary = await self.summaries.awaited(name)
        shown = await self._shown(name, summary)
        status, pictures = shown["status"], shown["pictures"]
        found = investment(status, summary)
        return self.site.html(
            request,
            visitor,
            "loop.html",
            title=name,
            name=name,
            status=status,
            config=live.state.config.to_dict(),
            window=duration(status["window"]),
            cells=shown["cells"],
            arms=status["arms"][:SHOWN],
            more=max(0, len(status["arms"]) - SHOWN),
            pictures=pictures,
            summary=summary,
            expected=self._expected(summary, shown["ages"], status["window"]),
            investment=found,
            invested=[] if found is None else _invested(found),
            policy=_policy_in_words(status["policy"]),
            data={"pictures": [plain(picture.to_dict()) for picture in pictures]},
        )

    def _expected(self, summary: LogSummary | None, ages: list[float], window: float) -> str:
        expected = None if summary is None else summary.expected(ages, window)
        if expected is None or not ages:
            return ""
        return (
            f"Of the {text(len(ages))} pending, {text(round(expected, 1))} rewards are expected to"
            " come before their windows close."
        )

    async def _shown(self, name: str, summary: LogSummary | None) -> dict[str, Any]:
        """Return the numbers and charts of a loop as it is now."""
        live, now = self.service.loop(name), self.service.clock()
        rate = await decisions_a_minute(self.service, live, now)
        status, chances, ages = loop_status(live), played_next(live), pending_ages(live, now)
        pictures = live_pictures(status, chances, ages)
        if summary is not None:
            pictures = [*log_pictures(summary, status), *pictures]
        return {
            "status": status,
            "ages": ages,
            "cells": loop_cells(status, rate, chances, summary),
            "pictures": sorted(pictures, key=lambda picture: ORDER.index(picture.name)),
        }

    async def loop_live(self, request: Request, visitor: Visitor) -> Response:
        """Stream the numbers and charts of one loop."""
        name = request.path_params["loop"]
        self.service.loop(name)

        async def look() -> dict[str, Any]:
            shown = await self._shown(name, self.summaries.newest(name))
            pictures = shown["pictures"]
            drawn = [plain(picture.to_dict()) for picture in pictures]
            return {"cells": shown["cells"], "pictures": drawn}

        return self._stream(request, look)

    def _stream(self, request: Request, look: Look) -> Response:
        headers = SAFE | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        events = self._events(request, look)
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    async def _events(self, request: Request, look: Look) -> AsyncIterator[str]:
        """Send what is new, as long as someone listens whose key is valid."""
        last, quiet = "", 0
        while not self.site.api.stopping and not await request.is_disconnected():
            if await visitor_of(self.site.api, request) is None:
                yield "event: end\ndata: {}\n\n"
                return
            found = json.dumps(await look())
            quiet += 1
            if found != last:
                last, quiet = found, 0
                yield f"data: {found}\n\n"
            elif quiet >= HEARTBEAT:
                quiet = 0
                yield ": still here\n\n"
            await asyncio.sleep(EVERY)


def _warnings_in_words(summary: LogSummary | None) -> str:
    if summary is None:
        return "being audited"
    if summary.trouble:
        return "not audited"
    return text(len(summary.warnings)) if summary.warnings else "none"


def _invested(found: Any) -> list[dict[str, str]]:
    return [
        {
            "arm": str(row["arm"]),
            "now": share_text(row["seen now"]),
            "worth": text(row["worth per unit of money"]),
            "then": share_text(row["seen then"]),
        }
        for row in list(found.arms)[:10]
    ]


def _policy_in_words(policy: dict[str, Any]) -> str:
    more = ", ".join(f"{name} {value}" for name, value in policy.items() if name != "kind")
    return f"{policy['kind']} ({more})" if more else str(policy["kind"])
