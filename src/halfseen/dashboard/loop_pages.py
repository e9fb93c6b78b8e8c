"""The overview of all loops and the page of one loop, with live updates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from halfseen.dashboard.chart_numbers import course_arms, course_table, pending_table
from halfseen.dashboard.dashboard_site import Site
from halfseen.dashboard.decision_pages import moment
from halfseen.dashboard.log_summary import LogSummary, Summaries
from halfseen.dashboard.loop_charts import loop_pictures
from halfseen.dashboard.loop_figures import (
    SHOWN,
    decisions_a_minute,
    duration,
    expected_in_words,
    investment,
    loop_cells,
    overview_row,
    pending_ages,
    played_next,
    share_text,
    text,
    youth_in_words,
)
from halfseen.dashboard.sign_in import Visitor, visitor_of
from halfseen.explorer.arm_labels import arm_labels
from halfseen.explorer.page_files import SAFE
from halfseen.explorer.view import Picture
from halfseen.logs.audit_export import plain
from halfseen.service.loop_status import loop_status

EVERY = 1.0  # seconds between two checks for changes
HEARTBEAT = 15  # checks after which something is sent in any case
COLUMNS = {
    "rate": "Decisions a minute",
    "decided": "Decisions",
    "seen": "Seen",
    "pending": "Pending",
    "dimension": "Effective dimension",
    "factor": "Factor",
    "forecast": "Regret forecast",
    "winner": "Winner",
}
PARTS = (
    "loop_top.html",
    "loop_numbers.html",
    "loop_ends.html",
)  # live parts of the page of a loop
Look = Callable[[], Awaitable[dict[str, Any]]]


class LoopPages:
    """The pages that show loops."""

    def __init__(self, site: Site) -> None:
        self.site, self.service = site, site.service
        self.summaries = Summaries(site.service)

    async def overview(self, request: Request, visitor: Visitor) -> Response:
        """Show all loops at a glance."""
        await self.summaries.patience(config.name for config in self.service.loops())
        return self.site.html(
            request,
            visitor,
            "loops.html",
            title="Loops",
            here="/",
            read_only=self.service.read_only,
            **await self._rows(),
        )

    async def _rows(self) -> dict[str, Any]:
        """Return what the table of all loops shows."""
        rows = []
        for config in self.service.loops():
            live, summary = self.service.loop(config.name), self.summaries.newest(config.name)
            row = await overview_row(self.service, live, summary, self.service.clock())
            rows.append(row | {"warnings": _warnings_in_words(summary)})
        return {"rows": rows, "columns": COLUMNS}

    async def overview_live(self, request: Request, visitor: Visitor) -> Response:
        """Stream the table of all loops."""

        async def look() -> dict[str, Any]:
            return {"parts": self.site.parts(["loops_table.html"], **await self._rows())}

        return self._stream(request, look)

    async def loop(self, request: Request, visitor: Visitor) -> Response:
        """Show one loop."""
        name = request.path_params["loop"]
        live = self.service.loop(name)
        await self.summaries.patience([name])
        asked = request.query_params.getlist("course")
        shown = await self._shown(name, asked)
        return self.site.html(
            request,
            visitor,
            "loop.html",
            title=name,
            window=duration(shown["status"]["window"]),
            query=f"?{urlencode({'course': asked}, doseq=True)}" if asked else "",
            policy=_policy_in_words(live.state.config.policy),
            data={"pictures": _plain(shown["pictures"])},
            **shown,
        )

    async def _shown(self, name: str, asked: list[str]) -> dict[str, Any]:
        """Return the live parts of the page of a loop, consistent with each other."""
        live, now = self.service.loop(name), self.service.clock()
        summary = self.summaries.newest(name)
        rate = await decisions_a_minute(self.service, live, now)
        status, chances, ages = loop_status(live), played_next(live), pending_ages(live, now)
        found = investment(status, summary)
        course = course_arms(summary, status["arms"], asked)
        return {
            "name": name,
            "status": status,
            "cells": loop_cells(status, rate, chances, summary),
            "arms": status["arms"][:SHOWN],
            "labels": arm_labels([str(arm["arm"]) for arm in status["arms"][:SHOWN]]),
            "more": max(0, len(status["arms"]) - SHOWN),
            "summary": summary,
            "audited_at": "" if summary is None else moment(summary.at),
            "young": youth_in_words(summary, status["window"]),
            "expected": expected_in_words(summary, ages, status["window"]),
            "investment": found,
            "invested": [] if found is None else _invested(found),
            "course": course,
            "course_rows": course_table(summary, course),
            "pending_rows": pending_table(ages, summary, status["window"]),
            "pictures": loop_pictures(status, chances, ages, summary, course),
        }

    async def loop_live(self, request: Request, visitor: Visitor) -> Response:
        """Stream updates of the numbers, sentences and charts of one loop."""
        name = request.path_params["loop"]
        self.service.loop(name)
        asked = request.query_params.getlist("course")

        async def look() -> dict[str, Any]:
            shown = await self._shown(name, asked)
            return {
                "parts": self.site.parts(PARTS, **shown),
                "pictures": _plain(shown["pictures"]),
            }

        return self._stream(request, look)

    def _stream(self, request: Request, look: Look) -> Response:
        headers = SAFE | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        events = self._events(request, look)
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    async def _events(self, request: Request, look: Look) -> AsyncIterator[str]:
        """Send updates while the client is connected and its key is valid."""
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


def _plain(pictures: list[Picture]) -> list[Any]:
    return [plain(picture.to_dict()) for picture in pictures]


def _warnings_in_words(summary: LogSummary | None) -> str:
    if summary is None:
        return "being audited"
    if summary.trouble:
        return "not audited"
    return text(len(summary.warnings)) if summary.warnings else "none"


def _invested(found: Any) -> list[dict[str, str]]:
    rows = list(found.arms)[:10]
    labels = arm_labels([str(row["arm"]) for row in rows])
    return [
        {
            "arm": str(row["arm"]),
            "label": label,
            "now": share_text(row["seen now"]),
            "worth": text(row["worth per unit of money"]),
            "then": share_text(row["seen then"]),
        }
        for row, label in zip(rows, labels, strict=True)
    ]


def _policy_in_words(policy: dict[str, Any]) -> str:
    more = ", ".join(f"{name} {value}" for name, value in policy.items() if name != "kind")
    return f"{policy['kind']} ({more})" if more else str(policy["kind"])
