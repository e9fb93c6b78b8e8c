"""Names that mean something to JavaScript, HTML, CSV, a terminal or a file system."""

OWNED = (
    "constructor",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "__proto__",
    "isPrototypeOf",
    "length",
    "undefined",
    "null",
    "NaN",
    "datum",
    "parent",
    "__defineGetter__",
)
ODD = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "\"'`",
    "back\\slash \\u0041 \\",
    "[0]",
    "a.b.c",
    "a\\.b",
    "two\nlines\r\nand\ttabs",
    "\u202eright to left\u202c \u200f",
    "",
    " ",
    "x" * 10_000,
    "{{7*7}} ${7*7} %s {0}",
    "=HYPERLINK(1)",
    "\u2028line\u2029separators",
    "é\u0301 漢字 עברית 🙂",
    "\x1b[31mred\x07\x00",
)
NAMES = OWNED + ODD
