"""How the documentation is built: `make docs`."""

import re
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes

import halfseen

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "halfseen"
version = release = halfseen.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
    "gallery",
    "notebooks",
    "site_files",
]
source_suffix = {".md": "markdown", ".py": "gallery", ".ipynb": "notebook"}
autodoc_mock_imports = [name for name in ("gymnasium", "sklearn") if find_spec(name) is None]
viewcode_line_numbers = True
exclude_patterns = ["_build", "_ext", "conf.py"]
nitpicky = True
# Names in single backticks become links where there is something to link to, code elsewhere.
default_role = "py:obj"
# Words in backticks that several classes share; anchors written as HTML, which a test follows.
suppress_warnings = ["ref.python", "myst.xref_missing"]
nitpick_ignore_regex = [("py:obj", ".*"), ("py:class", ".*"), ("py:data", ".*")]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
toc_object_entries = False

html_theme = "furo"
html_title = f"halfseen {release}"
# The maths font: without one, browsers draw roots and brackets too short.
html_static_path = ["_static", str(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")]
html_css_files = ["site.css"]
html_js_files = ["search_offline.js"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#00639c",
        "color-brand-content": "#00639c",
        "color-brand-visited": "#00639c",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6db9ea",
        "color-brand-content": "#6db9ea",
        "color-brand-visited": "#6db9ea",
    },
}

ARRAY = re.compile(r"~?(numpy\.)?ndarray\[[^\[\]]*(\[[^\[\]]*\])?[^\[\]]*(\[[^\[\]]*\])?\]")
DOTTED = re.compile(r"(?<![~\w.])((?:\w+\.)+\w+)")  # shown without what is before the last dot


def tidy_types(app, domain, objtype, content):
    """Write names short, arrays as arrays, and the type of what is returned only once."""
    for field in list(content.findall(nodes.field)):
        name, body = field[0].astext(), field[1]
        if name == "rtype":
            field.parent.remove(field)
        elif name.startswith(("type ", "vartype ")):
            text = ARRAY.sub("ndarray", body.astext())
            text = DOTTED.sub(r"~\1", text)
            body.children = [nodes.paragraph("", text)]


def setup(app):
    """Run after autodoc has added the types."""
    app.connect("object-description-transform", tidy_types, priority=900)
