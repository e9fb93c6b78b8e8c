"""The exceptions halfseen raises on purpose."""

import itertools
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from opcode import opmap
from typing import Any

LONG_WORD, LONG_MESSAGE = 200, 1200  # characters kept of a word and of a whole message


_SCHEME = r"[a-z][a-z0-9+.-]{0,30}:/{1,3}"
_READ = 10_000  # characters of a value that a message may be made of
_SIGNED = re.compile(rf"({_SCHEME})((?:(?!{_SCHEME}).)*)@", re.IGNORECASE | re.DOTALL)
_CUT = re.compile(
    rf"({_SCHEME}[^\s/:@\[\]]+:)(?!password@|\d+(?![\w%]))[^\s…@][^\s@]*", re.IGNORECASE
)
_BARE = re.compile(r"(?<![\w/…])([\w.%+-]+:)(?!/)[^\s@'\"`]+@(?=[\w.\[])")
_SETTING = re.compile(r"\b(passw\w*|pwd)(\s*=\s*)('[^']*'?|[^\s&;]+)", re.IGNORECASE)


class HalfseenError(Exception):
    """Base of every error halfseen raises on purpose."""

    def __init__(self, *said: object) -> None:
        super().__init__(*(no_password(word) if isinstance(word, str) else word for word in said))


class InvalidInput(HalfseenError, ValueError):
    """A value the user gave cannot be used; the message names it and says how to fix it."""

    def __init__(self, field: str, requirement: str, value: object, fix: str) -> None:
        self.field = field
        self.requirement = requirement
        self.value = value
        self.fix = fix
        super().__init__(sentence(f"`{field}` {requirement}; got {shorten(value)}. {fix}"))


class DecisionError(HalfseenError):
    """Feedback for a decision the agent never made or has already settled."""


class StorageError(HalfseenError):
    """A file cannot be read or written."""


def shorten(value: object, width: int = 80) -> str:
    """Return the repr of a value, cut to at most `width` characters."""
    try:
        text = " ".join(repr(value).split())[:_READ]
    except Exception:  # too many digits, nested too deeply, or a failing repr
        text = f"a {type(value).__name__} that cannot be written out"
    text = no_password(text)
    return text if len(text) <= width else text[: width - 1] + "…"


class InWords(str):
    """A description of what was given; messages show it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def counted_entries(count: int) -> InWords:
    """Return how many entries were given, for a message.

    >>> counted_entries(1), counted_entries(2000)
    (1 entry, 2,000 entries)
    """
    return InWords(f"{count:,} {'entry' if count == 1 else 'entries'}")


def nearest_few(name: object, known: Iterable[str], most: int, least: float) -> list[str]:
    """Return the known names most like a mistyped one, whatever their case, the most like first.

    >>> nearest_few("ucb", ["UCB", "UCB1", "MOSS"], 3, 0.6)
    ['UCB', 'UCB1']
    """
    import difflib

    if not isinstance(name, str):
        return []
    folded = {other.casefold(): other for other in known}
    return [folded[one] for one in difflib.get_close_matches(name.casefold(), folded, most, least)]


def sharing_a_word(name: object, known: Iterable[str], most: int = 4) -> list[str]:
    """Return known names that share a word of at least five letters with a name.

    >>> sharing_a_word("ThompsonSampling", ["LinThompson", "gaussian-thompson", "UCB"])
    ['LinThompson', 'gaussian-thompson']
    """
    wanted = _long_words(name) if isinstance(name, str) else set()
    return [other for other in known if wanted & _long_words(other)][:most]


def _long_words(name: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+", name)
    return {word.casefold() for word in words if len(word) >= 5}


def did_you_mean(
    name: object, known: Iterable[str], otherwise: str = "Choose one of those.", least: float = 0.6
) -> str:
    """Return the sentence that suggests the nearest known name, or another one if none is near.

    >>> did_you_mean("horizn", ["horizon", "seed"]), did_you_mean(7, ["seed"])
    ("Did you mean 'horizon'?", 'Choose one of those.')
    """
    return suggestion(nearest_few(name, known, 1, least)) or otherwise


def suggestion(*near: Sequence[str]) -> str:
    """Return the question for the names of the first list that has any; empty if none has.

    >>> suggestion([], ["UCB", "UCB1"]), suggestion([])
    ("Did you mean 'UCB' or 'UCB1'?", '')
    """
    names = next(filter(None, near), ())
    return f"Did you mean {' or '.join(map(shorten, names))}?" if names else ""


def no_such_name(module: str, name: str, known: Collection[str]) -> Exception:
    """Return the error for a name that a module's `__getattr__` does not know.

    Within `from module import name` it is an ImportError, since Python replaces the text of an
    AttributeError there.
    """
    close, near = (nearest_few(name, known, 1, least) for least in (0.85, 0.7))
    swapped = [other for other in known if sorted(other.casefold()) == sorted(name.casefold())]
    hint = suggestion(swapped[:1], close, sharing_a_word(name, known), near)
    caller = sys._getframe(2)
    if caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name {name!r} from {module!r}. {hint}".rstrip())
    # Without obj Python adds no hint of its own.
    return AttributeError(
        f"module {module!r} has no attribute {name!r}. {hint}".rstrip(), name=name
    )


def missing_package(module: str, extra: str, error: ImportError) -> ImportError:
    """Return the error for a module whose package is not installed; any other error as it is.

    >>> missing_package("a.b", "sklearn", ImportError(name="sklearn.base"))
    ImportError("a.b needs a package that is not installed: pip install 'halfseen[sklearn]'.")
    """
    if (error.name or "").partition(".")[0] != extra:
        return error
    said = "needs a package that is not installed: pip install"
    return ImportError(f"{module} {said} 'halfseen[{extra}]'.", name=error.name)


def only_listed(
    module: str, names: Collection[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose public names are listed.

    >>> only_listed("halfseen.testing", ["check_policy"])[1]()
    ['check_policy']
    """

    def missing(name: str) -> Any:
        raise no_such_name(module, name, names)

    return missing, lambda: sorted(names)


def no_password(text: str) -> str:
    """Return the text with the passwords of addresses replaced by an ellipsis.

    >>> no_password("Got postgresql://bob:a b@c%d@host/base."), no_password("tcp://10.0.0.1:8786")
    ('Got postgresql://…@host/base.', 'tcp://10.0.0.1:8786')
    """
    if "@" in text:
        text = _SIGNED.sub(lambda m: f"{m[1]}…@" if _secret(m[2]) else m[0], text)
    if ":/" in text:
        text = _CUT.sub(r"\1…", text)
    if "@" in text:
        text = _BARE.sub(r"\1…@", text)
    return _SETTING.sub(r"\1\2…", text)


def _secret(before: str) -> bool:
    """Return whether what precedes an address's @ has a password, our own example excepted."""
    return ":" in before and before != "user:password"


def compiler_complaint(error: BaseException) -> str | None:
    """Return the innermost reason numba gives for not compiling something; None for other errors.

    >>> compiler_complaint(KeyError("x")) is None
    True
    """
    if not type(error).__module__.startswith("numba"):
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line for line in lines if "Failed in" not in line]
    inner = [line for line in reasons if re.match(r"\w*Error: ", line)]
    unread = r"(No implementation of function|There are|- Of which|>>>)"
    pairs = itertools.pairwise(lines)
    failed = [after for line, after in pairs if "Failed in" in line and after in reasons]
    stated = [line for line in failed if not re.match(unread, line)]
    calls = [f"it knows no {line[4:]}" for line in reasons if line.startswith(">>> ")]
    plain = [line for line in reasons if not re.match(unread, line)]
    found = inner[-1:] or stated[-1:] or calls[-1:] or plain[:1] or ["unknown reason"]
    return found[0].rstrip(".")


def sentence(text: str) -> str:
    """Return a message on one line, without passwords and with overlong parts shortened.

    >>> sentence("No file " + "x" * 300 + " here.")[-20:]
    'xxxxxxxxxxxxxx here.'
    """
    text = no_password(text)
    short = re.sub(rf"\S{{{LONG_WORD},}}", lambda word: _middle_cut(word[0], LONG_WORD), text)
    return one_line(_middle_cut(short, LONG_MESSAGE))


def _middle_cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width // 2]}…{text[-(width // 2 - 1) :]}"


def one_line(text: str) -> str:
    """Return the text with line breaks and control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
