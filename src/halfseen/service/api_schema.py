"""The OpenAPI document: requests and responses of every operation."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from halfseen import __version__
from halfseen.service.api_calls import Operation
from halfseen.service.loop_config import LoopConfig
from halfseen.service.request_bodies import BATCH_ITEMS, KINDS

PROBLEM = "Problem"
MEANING = {
    200: "Done, or known already.",
    201: "Made.",
    202: "Stored until its decision is known.",
    204: "Done.",
    400: "The body is malformed.",
    401: "There is no valid key.",
    403: "The key's role does not allow this.",
    404: "Unknown loop, decision or address.",
    409: "It conflicts with what is already stored.",
    413: "The body or the batch is too large.",
    422: "A field has an invalid value.",
    429: "Too many requests are queued; try again later.",
    503: "The database is unavailable; try again later.",
}
DESCRIPTION = (
    "Decisions by a bandit that treats missing feedback as missing. Every error is a problem"
    " document (RFC 9457) with `detail`, and where applicable `field`, `value` and `fix`."
    " Keys go in `Authorization: Bearer`; roles are decide, report and admin, each including those"
    " before it."
)


def _object(properties: Mapping[str, Any], required: Iterable[str] = (), **more: Any) -> Any:
    content = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    needed = list(required)
    return content | ({"required": needed} if needed else {}) | more


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "description": "Printable, not beginning with forgotten-; generated if left out.",
}
NUMBER = {"type": "number"}
TEXT = {"type": "string"}
ARM = {"type": "string", "minLength": 1, "maxLength": 128}
TIME = {
    "type": "string",
    "format": "date-time",
    "description": "By the client's clock, with its time zone; stored, never used.",
}
ROW = {"type": "array", "items": NUMBER}
STATE = {"type": "string", "enum": ["held", "pending", "observed", "censored", "late", "orphan"]}
_DECIDE: dict[str, Any] = {
    "id": _or_null(ID),
    "available": {
        "type": ["array", "null"],
        "items": ARM,
        "minItems": 1,
        "description": "Names of the arms on offer; all if left out.",
    },
    "features": {
        "type": ["array", "null"],
        "items": ROW,
        "minItems": 1,
        "description": "For a loop of features: a row per action.",
    },
    "hold": {
        "type": ["boolean", "null"],
        "description": "True if it may never be shown; its window then begins with activate.",
    },
    "at": _or_null(TIME),
}
_COUNT = {
    "type": ["integer", "null"],
    "minimum": 1,
    "maximum": BATCH_ITEMS,
    "description": "Number of decisions to make; the response is a list.",
}
_REWARD = {
    "type": ["number", "null"],
    "description": "null if it will never come; it does not mean 0.",
}
_SERVED = {
    "arm": ARM,
    "probability": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
    "features": {"type": ["array", "null"], "items": NUMBER},
    "at": _or_null(TIME),
}
_OUTCOME = {"reward": _REWARD, "at": _or_null(TIME)}
_DECISION = {
    "id": TEXT,
    "loop": TEXT,
    "arm": {"type": "string", "description": "What to show."},
    "probability": {
        "type": ["number", "null"],
        "minimum": 0,
        "maximum": 1,
        "description": "Propensity of the choice.",
    },
    "state": STATE,
    "version": {"type": "integer", "description": "The last event known to the choice."},
    "expires_at": {"type": ["string", "null"], "format": "date-time"},
}
_ANY = {"type": "object", "additionalProperties": True}
_ACTION = {
    "type": "object",
    "properties": {"id": ARM, "features": {"type": ["array", "null"], "items": _ANY}},
    "required": ["id"],
}


def _settings_in_words() -> dict[str, str]:
    """Return the description of each setting of a loop, from the docstring of `LoopConfig`."""
    found: dict[str, str] = {}
    names: list[str] = []
    lines = (inspect.getdoc(LoopConfig) or "").partition("----------\n")[2].splitlines()
    for line in lines:
        if line.startswith(" "):
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
        else:
            names = line.strip().split(", ")
    return {name: said for name, said in found.items() if name in LoopConfig.model_fields}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def schemas() -> dict[str, Any]:
    """Return the schema of every body by its name."""
    items = {
        "decide": _object(_DECIDE),
        "activate": _object({"id": ID, "at": _or_null(TIME)}, ["id"]),
        "served": _object({"id": ID, **_SERVED}, ["id", "arm"]),
        "outcome": _object({"id": ID, **_OUTCOME}, ["id", "reward"]),
    }
    entries = [_object({kind: items[kind]}, [kind]) for kind in KINDS]
    answers = {"anyOf": [_reference("Decision"), _reference("Noted")]}
    entry = {"status": {"type": "integer"}, "answer": answers, "problem": _reference(PROBLEM)}
    config = LoopConfig.model_json_schema()
    config.pop("title", None)
    config["description"] = "The settings of a loop."
    for name, said in _settings_in_words().items():
        config["properties"][name]["description"] = said
    settings = {name: part for name, part in config["properties"].items() if name != "name"}
    return {
        PROBLEM: {
            "type": "object",
            "properties": {
                "type": TEXT,
                "title": TEXT,
                "status": {"type": "integer"},
                "detail": TEXT,
                "field": TEXT,
                "value": {"description": "What was given, shortened."},
                "fix": TEXT,
            },
            "required": ["type", "title", "status", "detail"],
        },
        "Decide": _object({**_DECIDE, "count": _COUNT}),
        "Decision": _object(_DECISION, _DECISION),
        "Decided": {
            "anyOf": [
                _reference("Decision"),
                _object({"decisions": {"type": "array", "items": _reference("Decision")}}),
            ]
        },
        "Activate": _object({"at": _or_null(TIME)}),
        "Served": _object(_SERVED, ["arm"]),
        "Outcome": _object(_OUTCOME, ["reward"]),
        "Noted": _object({"id": TEXT, "loop": TEXT, "state": STATE}, ["id", "loop", "state"]),
        "BatchItem": {"anyOf": entries},
        "Batch": _object(
            {
                "items": {
                    "type": "array",
                    "items": {
                        "description": "A BatchItem. An invalid one is refused on its own.",
                        "examples": [{"outcome": {"id": "x", "reward": 1}}],
                    },
                    "minItems": 1,
                    "maxItems": BATCH_ITEMS,
                    "description": "Objects with one of decide, activate, served and outcome.",
                }
            },
            ["items"],
        ),
        "BatchAnswer": _object(
            {"items": {"type": "array", "items": _object(entry, ["status"])}}, ["items"]
        ),
        "LoopConfig": config,
        "LoopSettings": {**config, "properties": settings, "required": [], "minProperties": 1},
        "Loops": _object({"loops": {"type": "array", "items": _ANY}}, ["loops"]),
        "Loop": {**_ANY, "description": "Settings, counts, estimates, seen rates and the winner."},
        "Revision": {**_ANY, "description": "The revision, and what it changes."},
        "Audit": {**_ANY, "description": "The audit, as `halfseen audit --json` prints it."},
        "Forgotten": _object({"forgotten": {"type": "integer"}}, ["forgotten"]),
        "Health": _object({"status": TEXT, "aside": {"type": "array", "items": TEXT}}, ["status"]),
        "Document": _ANY,
        "Rank": {
            "type": "object",
            "properties": {
                "contextFeatures": {"type": ["array", "null"], "items": _ANY},
                "actions": {"type": "array", "items": _ACTION, "minItems": 1, "maxItems": 50},
                "excludedActions": {"type": ["array", "null"], "items": TEXT},
                "eventId": {"type": ["string", "null"], "minLength": 1, "maxLength": 256},
                "deferActivation": {"type": ["boolean", "null"]},
            },
            "required": ["actions"],
        },
        "Ranked": {
            "type": "object",
            "properties": {
                "ranking": {
                    "type": "array",
                    "items": _object(
                        {"id": TEXT, "probability": {"type": ["number", "null"]}}, ["id"]
                    ),
                },
                "eventId": TEXT,
                "rewardActionId": TEXT,
            },
            "required": ["ranking", "eventId", "rewardActionId"],
        },
        "Reward": {"type": "object", "properties": {"value": NUMBER}, "required": ["value"]},
    }


def openapi_document(operations: Iterable[Operation], keys: bool) -> dict[str, Any]:
    """Return the OpenAPI document.

    Parameters
    ----------
    operations
        The operations.
    keys
        Whether keys are asked for.
    """
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = described(operation, keys)
    components: dict[str, Any] = {"schemas": schemas()}
    if keys:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "halfseen", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": components,
    }


def described(operation: Operation, keys: bool) -> dict[str, Any]:
    """Return one operation as the OpenAPI document has it."""
    refusals = {*operation.refusals, *((401, 403) if keys and operation.role else ())}
    if operation.request is not None:
        refusals |= {400, 413, 422}
    answers: dict[str, Any] = {}
    for status, schema in operation.responses.items():
        answer: dict[str, Any] = {"description": MEANING[status]}
        if schema is not None:
            answer["content"] = _content(schema)
        answers[str(status)] = answer
    problem = {"application/problem+json": {"schema": _reference(PROBLEM)}}
    for status in sorted(refusals):
        answers[str(status)] = {"description": MEANING[status], "content": problem}
    names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    longest = 256 if "/events/" in operation.path else 128
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": longest},
        }
        for name in names
    ]
    content: dict[str, Any] = {
        "operationId": operation.kind,
        "summary": operation.summary,
        "tags": [operation.tag],
        "responses": answers,
    }
    if parameters or operation.parameters:
        content["parameters"] = [*parameters, *operation.parameters]
    if operation.request is not None:
        body = {"application/json": {"schema": _reference(operation.request)}}
        needed = bool(schemas()[operation.request].get("required"))
        content["requestBody"] = {"required": needed, "content": body}
    if keys and operation.role is not None:
        content["security"] = [{"key": []}]
        content["x-role"] = operation.role
    return content


def _content(schema: str) -> dict[str, Any]:
    """Return the content of an answer: a schema by its name, or a media type as it is."""
    if "/" in schema:
        return {media: {} for media in schema.split(",")}
    return {"application/json": {"schema": _reference(schema)}}
