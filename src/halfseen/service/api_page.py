"""The API page: rendered on the server, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Any

STYLE = """
:root{color-scheme:light dark;--ink:#1b2733;--soft:#5a6b7b;--line:#d7dee5;--back:#fff;
--panel:#f5f7f9;--brand:#00639c}
@media(prefers-color-scheme:dark){:root{--ink:#e4eaf0;--soft:#9aabba;--line:#33414e;
--back:#12181e;--panel:#1a222a;--brand:#6db9ea}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:56rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{margin:0 0 .25rem;font-size:1.8rem}h2{margin:2.5rem 0 .75rem;font-size:1.25rem}
p{margin:.4rem 0;max-width:44rem}a{color:var(--brand)}
code,pre{font:.875rem/1.5 ui-monospace,monospace}
details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;background:var(--panel)}
summary{padding:.6rem .9rem;cursor:pointer;display:flex;gap:.75rem;flex-wrap:wrap;
align-items:baseline}
summary b{font:600 .8rem ui-monospace,monospace;min-width:3.6rem;color:var(--brand)}
summary span{color:var(--soft)}
summary code{overflow-wrap:anywhere}
.inside{padding:.25rem .9rem .9rem;border-top:1px solid var(--line)}
h3{font-size:.85rem;margin:1rem 0 .3rem;color:var(--soft);font-weight:600}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td{padding:.3rem .75rem .3rem 0;vertical-align:top;border-top:1px solid var(--line)}
tr:first-child td{border-top:0}td:first-child{white-space:nowrap}td p{margin:0}
.soft{color:var(--soft)}
pre{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.9rem;
overflow:auto}
"""
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " style-src 'sha256-{digest}'"
)


def content_policy() -> str:
    """Return the Content-Security-Policy of the page: its own style and nothing else."""
    from base64 import b64encode

    return POLICY.format(digest=b64encode(sha256(STYLE.encode()).digest()).decode())


def api_page(document: Mapping[str, Any], address: str) -> str:
    """Return the page of an OpenAPI document."""
    schemas = document["components"]["schemas"]
    parts: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            part = parts.setdefault(operation["tags"][0], [])
            part.append(_operation(method.upper(), path, operation, schemas))
    body = "".join(f"<h2>{escape(tag)}</h2>{''.join(rows)}" for tag, rows in parts.items())
    info = document["info"]
    example = (
        f"curl -X POST {address}/v1/loops/LOOP/decisions \\\n"
        "  -H 'Authorization: Bearer hs_...' -d '{}'\n"
        f"curl -X POST {address}/v1/decisions/ID/outcome \\\n"
        "  -H 'Authorization: Bearer hs_...' -d '{\"reward\": 1}'"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>halfseen: API</title><style>{STYLE}</style></head><body><main>"
        f"<h1>halfseen <span class=soft>API {escape(info['version'])}</span></h1>"
        f"<p>{_marked(info['description'])}</p>"
        '<p>For machines: <a href="openapi.json">openapi.json</a>. To look at: '
        '<a href="./">the loops</a>.</p>'
        f"<pre>{escape(example)}</pre>{body}</main></body></html>"
    )


def _operation(
    method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> str:
    inside = [
        f"<p>Needs a key of the role {operation['x-role']}.</p>" if "x-role" in operation else ""
    ]
    parameters = operation.get("parameters", [])
    if parameters:
        rows = [
            (one["name"], one["in"], one.get("description", _kind(one["schema"])))
            for one in parameters
        ]
        inside.append(f"<h3>Parameters</h3>{_table(rows)}")
    body = operation.get("requestBody")
    if body is not None:
        inside.append(f"<h3>Body</h3>{_schema(_first(body), schemas)}")
    answers = []
    for status, answer in operation["responses"].items():
        shape = _first(answer) if "content" in answer else {}
        name = shape.get("$ref", "").rpartition("/")[2] if shape else ""
        answers.append((status, answer["description"], name))
    inside.append(f"<h3>Answers</h3>{_table(answers)}")
    done = next(
        (a for s, a in operation["responses"].items() if s < "300" and "content" in a), None
    )
    if done is not None and _first(done):
        shown = _schema(_first(done), schemas)
        inside.append(f"<h3>Answer</h3>{shown}" if shown else "")
    return (
        f"<details id={escape(operation['operationId'])}><summary><b>{method}</b>"
        f"<code>{escape(path)}</code><span>{escape(operation['summary'])}</span></summary>"
        f"<div class=inside>{''.join(inside)}</div></details>"
    )


def _first(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    shape: Mapping[str, Any] = next(iter(holder["content"].values())).get("schema", {})
    return shape


def _schema(shape: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return the fields of a body as a table."""
    shape = _resolved(shape, schemas)
    if "anyOf" in shape:
        shape = _resolved(shape["anyOf"][0], schemas)
    fields = shape.get("properties", {})
    needed = shape.get("required", ())
    rows = [
        (name, _kind(field) + (" (needed)" if name in needed else ""), field.get("description", ""))
        for name, field in fields.items()
    ]
    said = f"<p>{_marked(shape['description'])}</p>" if "description" in shape else ""
    return said + (_table(rows) if rows else "")


def _resolved(shape: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = shape.get("$ref")
    return shape if reference is None else schemas[reference.rpartition("/")[2]]


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a field in words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " | ".join(_kind(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    inner = f" of {_kind(schema['items'])}" if "items" in schema else ""
    return " | ".join(f"{kind}{inner}" if kind == "array" else kind for kind in kinds)


def _table(rows: Any) -> str:
    cells = (
        f"<tr><td><code>{escape(str(name))}</code></td>"
        + "".join(f"<td>{_marked(str(text))}</td>" for text in texts)
        + "</tr>"
        for name, *texts in rows
    )
    return f"<table>{''.join(cells)}</table>"


def _marked(text: str) -> str:
    """Return a text as HTML, with backticks as code."""
    parts = escape(text).replace("``", "`").split("`")
    return "".join(f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))
