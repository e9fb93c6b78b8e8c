"""Draws charts in a separate process: V8 aborts its process when memory is short.

Run as a script that does not import halfseen. It reads one JSON object on stdin and answers with
one line of JSON per chart, as soon as it is drawn.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any


def main() -> None:
    """Answer what stdin asks for: the drawing code of a page, or charts as SVG and PNG."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core file when V8 aborts
    except ImportError:  # not on Windows
        pass
    import vl_convert

    asked = json.load(sys.stdin)
    if "snippet" in asked:
        code = vl_convert.javascript_bundle(asked["snippet"], vl_version=asked["version"])
        _answer({"code": code})
    for spec in asked.get("charts", ()):
        try:
            svg = vl_convert.vegalite_to_svg(spec, vl_version=asked["version"])
            png = base64.b64encode(vl_convert.svg_to_png(svg, scale=2)).decode()
            _answer({"svg": svg, "png": png})
        except Exception as error:
            _answer({"error": str(error)})


def _answer(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    main()
