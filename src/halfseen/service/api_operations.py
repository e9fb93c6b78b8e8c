"""Every operation of the API, listed once."""

from __future__ import annotations

from typing import Any

from halfseen.service import decision_calls, loop_calls, personalizer_calls
from halfseen.service.api_calls import BRIDGE, Api, Call, Operation, Reply, json_reply
from halfseen.service.api_page import api_page, content_policy
from halfseen.service.api_schema import openapi_document
from halfseen.service.problem_documents import Headers
from halfseen.service.refusals import StorageUnavailable
from halfseen.service.request_bodies import BATCH_BYTES
from halfseen.service.service_metrics import MEDIA_TYPE as METRICS

WRITING = (404, 409, 422, 429, 503)  # error statuses of operations that write to a log
IN_LOOP: dict[str, Any] = {
    "name": "loop",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 64},
    "description": "The decision's loop; needed only if several loops use the same id.",
}
FORMAT: dict[str, Any] = {
    "name": "format",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": ["parquet", "csv"]},
    "description": "parquet, or csv.",
}


def operations(api: Api, address: str) -> list[Operation]:
    """Return every operation."""
    known = [*_decisions(), *_loops(), *_bridge("", ""), *_bridge("/loops/{loop}", "loop_")]
    known += _about_itself(api, known, address)
    return known


def _decisions() -> list[Operation]:
    noted: Any = {"role": "decide", "refusals": WRITING, "parameters": (IN_LOOP,)}
    return [
        Operation(
            "POST",
            "/v1/loops/{loop}/decisions",
            "decide",
            decision_calls.decide,
            "decide",
            "Choose what to show.",
            request="Decide",
            responses={201: "Decided", 200: "Decided"},
            refusals=WRITING,
        ),
        Operation(
            "POST",
            "/v1/decisions/{id}/activate",
            "activate",
            decision_calls.activate,
            summary="Report that a held decision is now shown.",
            request="Activate",
            responses={200: "Noted"},
            **noted,
        ),
        Operation(
            "POST",
            "/v1/decisions/{id}/served",
            "served",
            decision_calls.served,
            summary="Report that something else was shown.",
            request="Served",
            responses={200: "Noted"},
            **noted,
        ),
        Operation(
            "POST",
            "/v1/decisions/{id}/outcome",
            "outcome",
            decision_calls.outcome,
            summary="Report the reward, or null if it will never come.",
            request="Outcome",
            responses={200: "Noted", 202: "Noted"},
            **noted,
        ),
        Operation(
            "POST",
            "/v1/loops/{loop}/batch",
            "batch",
            decision_calls.batch,
            "decide",
            "Up to 1,000 of the above in one request, each with its own status.",
            limit=BATCH_BYTES,
            request="Batch",
            responses={200: "BatchAnswer"},
            refusals=WRITING,
        ),
        Operation(
            "DELETE",
            "/v1/decisions/{id}",
            "forget",
            loop_calls.forget,
            "admin",
            "Erase a decision and its outcome.",
            responses={200: "Forgotten"},
            refusals=WRITING,
            parameters=(IN_LOOP,),
        ),
    ]


def _loops() -> list[Operation]:
    loop, about = "/v1/loops/{loop}", {"tag": "Loops", "refusals": WRITING}
    read: Any = about | {"refusals": (404, 422, 503)}
    write: Any = about
    return [
        Operation(
            "GET",
            "/v1/loops",
            "loops",
            loop_calls.list_loops,
            "report",
            "List the loops.",
            responses={200: "Loops"},
            tag="Loops",
        ),
        Operation(
            "POST",
            "/v1/loops",
            "create_loop",
            loop_calls.create_loop,
            "admin",
            "Make a loop.",
            request="LoopConfig",
            responses={201: "Loop", 200: "Loop"},
            **write,
        ),
        Operation(
            "GET",
            loop,
            "loop",
            loop_calls.read_loop,
            "report",
            "Settings and status of a loop.",
            responses={200: "Loop"},
            **read,
        ),
        Operation(
            "PATCH",
            loop,
            "revise_loop",
            loop_calls.revise_loop,
            "admin",
            "Change settings of a loop.",
            request="LoopSettings",
            responses={200: "Revision"},
            **write,
        ),
        Operation(
            "DELETE",
            loop,
            "archive_loop",
            loop_calls.archive_loop,
            "admin",
            "Close a loop for decisions; its log stays.",
            responses={204: None},
            **write,
        ),
        Operation(
            "GET",
            f"{loop}/audit",
            "audit",
            loop_calls.audit_loop,
            "report",
            "Audit a loop's log.",
            responses={200: "Audit"},
            **read,
        ),
        Operation(
            "GET",
            f"{loop}/export",
            "export",
            loop_calls.export_loop,
            "report",
            "A loop's log as a file, a row per decision.",
            responses={200: "application/vnd.apache.parquet,text/csv"},
            parameters=(FORMAT,),
            **read,
        ),
    ]


def _bridge(prefix: str, kind: str) -> list[Operation]:
    """Return Personalizer's operations, for the loop of its name or one in the address."""
    base = f"{prefix}/personalizer/v1.0"
    common: Any = {"role": "decide", "refusals": WRITING, "tag": BRIDGE}
    which = "the loop" if prefix else "the loop named personalizer"
    return [
        Operation(
            "POST",
            f"{base}/rank",
            f"{kind}rank",
            personalizer_calls.rank,
            summary=f"Rank actions by {which}.",
            request="Rank",
            responses={201: "Ranked"},
            **common,
        ),
        Operation(
            "POST",
            f"{base}/events/{{id}}/reward",
            f"{kind}reward",
            personalizer_calls.reward,
            summary="The reward of an event.",
            request="Reward",
            responses={204: None},
            **common,
        ),
        Operation(
            "POST",
            f"{base}/events/{{id}}/activate",
            f"{kind}activate_event",
            personalizer_calls.activate,
            summary="Report that an event is shown.",
            responses={204: None},
            **common,
        ),
    ]


def _about_itself(api: Api, known: list[Operation], address: str) -> list[Operation]:
    """Return the operations about the service itself."""
    keys = api.keys is not None

    async def health(_: Call) -> Reply:
        return json_reply({"status": "ok"})

    async def ready(call: Call) -> Reply:
        if not call.service.ready:
            raise StorageUnavailable(
                "The database does not answer, or the log is not read yet.", fix="Wait."
            )
        names = sorted(call.service.aside)
        aside = {
            "aside": [f"Loop {name} is put aside: its log cannot be replayed." for name in names]
        }
        return json_reply({"status": "ready"} | (aside if names else {}))

    async def metrics(call: Call) -> Reply:
        api.metrics.take(call.service.numbers())
        return Reply(200, api.metrics.text(), METRICS)

    async def openapi(_: Call) -> Reply:
        return json_reply(described())

    async def page(_: Call) -> Reply:
        policy: Headers = ((b"content-security-policy", content_policy().encode()),)
        text = api_page(described(), address)
        return Reply(200, text.encode(), b"text/html; charset=utf-8", policy)

    def described() -> dict[str, Any]:
        return openapi_document(listed, keys)

    own: Any = {"tag": "The service itself"}
    about = [
        Operation(
            "GET",
            "/healthz",
            "health",
            health,
            None,
            "Whether the process runs.",
            responses={200: "Health"},
            **own,
        ),
        Operation(
            "GET",
            "/readyz",
            "ready",
            ready,
            None,
            "Whether it can decide.",
            responses={200: "Health"},
            refusals=(503,),
            **own,
        ),
        Operation(
            "GET",
            "/metrics",
            "metrics",
            metrics,
            "report",
            "Metrics for Prometheus.",
            responses={200: "text/plain"},
            **own,
        ),
        Operation(
            "GET",
            "/openapi.json",
            "openapi",
            openapi,
            None,
            "This API as an OpenAPI document.",
            responses={200: "Document"},
            **own,
        ),
        Operation(
            "GET",
            "/api",
            "page",
            page,
            None,
            "This API as a page.",
            responses={200: "text/html"},
            **own,
        ),
    ]
    listed = [*known, *about]
    return about
