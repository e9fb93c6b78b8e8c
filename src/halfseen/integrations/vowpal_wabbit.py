"""Reads and writes Vowpal Wabbit's logs of decisions: dsjson, and the text of cb_adf."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from halfseen import checks
from halfseen.errors import InvalidInput, StorageError, shorten
from halfseen.integrations.log_rows import (
    check_propensities,
    observation_rates,
    open_decisions,
    parts,
)
from halfseen.studies.storage import whole_file

FORMATS = ("dsjson", "cb_adf")
SHARED, ARM, SEEN, UNSEEN = "Shared", "Arm", "seen_", "unseen_"
Row = dict[str, float]
Chances = tuple[float, float]  # probabilities of choosing the arm, and of seeing its reward
Decision = tuple[str | None, float | None, float | None, Row]


def write_vowpal_wabbit(
    log: Any,
    path: Path | str,
    *,
    action: str,
    reward: str,
    propensity: str | None = None,
    features: Sequence[str] = (),
    format: str = "dsjson",
    observe: Mapping[str, float] | None = None,
) -> int:
    """Write a log for Vowpal Wabbit.

    Parameters
    ----------
    log, action, reward, propensity, features
        As in `halfseen.audit`; features are shared by all arms. Without a propensity, an arm's
        share of the log stands for it.
    path
        The file to write, in the order of the log; it is replaced atomically.
    format
        ``"dsjson"``, for ``--dsjson``, or ``"cb_adf"``, its text.
    observe
        The probability that each arm's reward is seen, by its name; left out, the share of its
        rewards that the log has.

    Returns
    -------
    int
        How many decisions were written.

    Notes
    -----
    A cost is minus a reward. A missing reward is no cost: in dsjson it is marked ``_skipLearn``,
    in text it has no label, and Vowpal Wabbit learns nothing from either. In text the arm that was
    chosen carries the tag ``unseen_`` and its propensity then, which Vowpal Wabbit passes over.

    Seen rewards are weighted by 1/p(arm), otherwise rarely seen arms would look worse than they
    are: dsjson says so as ``pdrop``, 1 - p; in text the probability is the propensity times p, and
    the tag ``seen_`` keeps the propensity. Letters that mean something else in text are written as
    ``%`` and their code.
    """
    format = checks.one_of("format", format, FORMATS)
    decisions = open_decisions(log, action, reward, propensity, features)
    check_propensities(decisions, seen_only=False)
    names = decisions.counts.names
    rates = observation_rates(decisions, observe).tolist()
    write = _dsjson if format == "dsjson" else _text
    written = 0
    with whole_file(Path(path)) as file:
        for part in parts(decisions):
            columns = (part.action.tolist(), part.reward.tolist(), part.propensity.tolist())
            for arm, gain, chance, row in zip(*columns, part.features.tolist(), strict=True):
                known = {
                    name: value
                    for name, value in zip(features, row, strict=True)
                    if not math.isnan(value)
                }
                line = write(written, arm, gain, (chance, rates[arm]), known, names)
                file.write(line.encode())
                written += 1
    return written


def _dsjson(
    event: int, arm: int, reward: float, chances: Chances, row: Row, names: Sequence[str]
) -> str:
    chance, rate = chances
    rest = (1.0 - chance) / max(len(names) - 1, 1)
    missing = math.isnan(reward)
    order = [arm, *(i for i in range(len(names)) if i != arm)]  # the chosen one comes first
    content: dict[str, Any] = {
        "_label_cost": 0.0 if missing else -reward,
        "_label_probability": chance,
        "_label_Action": arm + 1,
        "_labelIndex": arm,
        "Version": "1",
        "EventId": str(event),
        "a": [i + 1 for i in order],
        "c": {SHARED: row, "_multi": [{ARM: {"name": name}} for name in names]},
        "p": [chance, *[rest] * (len(names) - 1)],
    }
    if missing:
        content["_skipLearn"] = True
    elif rate < 1.0:
        content["pdrop"] = 1.0 - rate
    return json.dumps(content, ensure_ascii=False) + "\n"


def _text(
    event: int, arm: int, reward: float, chances: Chances, row: Row, names: Sequence[str]
) -> str:
    chance, rate = chances
    values = " ".join(f"{_word(name)}:{value!r}" for name, value in row.items())
    lines = [f"shared |{SHARED} {values}".rstrip()]
    label = f"0:{-reward!r}:{chance * rate!r} '{SEEN}{chance!r}"
    if math.isnan(reward):
        label = f"'{UNSEEN}{chance!r}"
    for i, name in enumerate(names):
        lines.append(f"{label if i == arm else ''}|{ARM} {_word(name)}")
    return "\n".join(lines) + "\n\n"


def _word(name: str) -> str:
    """Encode a name as one word without Vowpal Wabbit's special characters; `_name` decodes it."""
    letters = (
        "".join(f"%{byte:02X}" for byte in letter.encode(errors="surrogatepass"))
        if letter in "%:|'" or letter.isspace() or not letter.isprintable()
        else letter
        for letter in name
    )
    return "".join(letters) or "%"


def _name(word: str) -> str:
    return "" if word == "%" else unquote(word)


def read_vowpal_wabbit(path: Path | str, *, format: str = "dsjson") -> dict[str, list[Any]]:
    """Read decisions from a log of Vowpal Wabbit.

    Parameters
    ----------
    path
        The file: one decision a line, or in text one in every group of lines.
    format
        ``"dsjson"``, or ``"cb_adf"``, its text.

    Returns
    -------
    dict
        ``action``, ``reward`` (minus the cost; None where ``_skipLearn`` is set or there is no
        cost), ``propensity``, and the shared features that are numbers, named
        ``namespace.feature`` unless `write_vowpal_wabbit` wrote them: columns that
        `halfseen.audit` reads. Features called action, reward or propensity would take the place
        of those columns: they are ``Shared.action`` and so on, whoever wrote them.

    Notes
    -----
    An arm is called by its place, from 1, unless `write_vowpal_wabbit` named it. In text without a
    label nothing says which arm was chosen, unless that wrote it: the action is None then, and
    `halfseen.audit` counts such rows apart.
    """
    format = checks.one_of("format", format, FORMATS)
    read = _read_dsjson if format == "dsjson" else _read_text
    columns: dict[str, list[Any]] = {"action": [], "reward": [], "propensity": []}
    rows = 0
    for number, content in (_objects if format == "dsjson" else _groups)(Path(path)):
        try:
            action, reward, chance, row = read(content)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise InvalidInput(
                f"line {number}", f"must be a decision in {format}", content, "Check the file."
            )
        values = row | {"action": action, "reward": reward, "propensity": chance}
        for name, value in values.items():
            column = columns.setdefault(name, [])
            column += [None] * (rows - len(column))
            column.append(value)
        rows += 1
    return {name: column + [None] * (rows - len(column)) for name, column in columns.items()}


def _read_dsjson(content: Any) -> Decision:
    arm = content.get("_label_Action", content.get("_labelIndex"))
    arm = int(content["a"][0]) if arm is None else int(arm)
    if "_label_Action" not in content and "_labelIndex" in content:
        arm += 1
    cost = None if content.get("_skipLearn") else content.get("_label_cost")
    chance = content.get("_label_probability", (content.get("p") or [None])[0])
    row: Row = {}
    for space, features in content.get("c", {}).items():
        if isinstance(features, dict):
            numbers = {k: v for k, v in features.items() if type(v) in (int, float)}
            row |= {_column(space, name): float(value) for name, value in numbers.items()}
    return (
        _named(content, arm),
        None if cost is None else -float(cost),
        None if chance is None else float(chance),
        row,
    )


def _read_text(lines: list[str]) -> Decision:
    shared = lines[0].split("|")[0].split()[:1] == ["shared"]
    row = dict(_numbers(lines[0])) if shared else {}
    offered = lines[1:] if shared else lines
    chosen: list[tuple[str, float | None, float | None]] = []
    for place, line in enumerate(offered, 1):
        head, _, described = line.partition("|")
        word = described.removeprefix(f"{ARM} ").rstrip()
        ours = described.startswith(f"{ARM} ") and not set(word) & set(" |:")
        name = _name(word) if ours else str(place)
        *labels, tag = head.split(" ")  # a tag touches the bar
        if tag.startswith(f"'{UNSEEN}"):
            chosen.append((name, None, float(tag.removeprefix(f"'{UNSEEN}"))))
        for label in labels:
            if label and not label.startswith("'"):
                _, cost, *chance = label.split(":")
                if tag.startswith(f"'{SEEN}"):
                    chance = [tag.removeprefix(f"'{SEEN}")]
                chosen.append((name, -float(cost), float(chance[0]) if chance else None))
    if not offered or len(chosen) > 1:
        raise ValueError
    return (*(chosen[0] if chosen else (None, None, None)), row)


def _numbers(line: str) -> Iterator[tuple[str, float]]:
    """Yield the features of a line of text by name; 1 where no value is given."""
    for space in line.split("|")[1:]:
        named = not space[:1].isspace()
        words = space.split()
        label = words.pop(0).partition(":")[0] if named and words else ""
        for word in words:
            name, _, value = word.partition(":")
            yield _column(label, _name(name)), float(value or 1.0)


def _column(space: str, name: str) -> str:
    plain = space in ("", SHARED) and name not in ("action", "reward", "propensity")
    return name if plain else f"{space}.{name}"


def _groups(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between empty ones, and where they begin."""
    group: list[str] = []
    for number, line in _lines(path):
        if line.strip():
            group.append(line.rstrip("\r\n"))
        elif group:
            yield number - len(group), group
            group = []
    if group:
        yield number - len(group) + 1, group


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in _lines(path):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(
                    f"line {number}", "must be dsjson", shorten(str(error)), "Check the file."
                )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from enumerate(file, 1)
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.")
    except UnicodeError as error:
        raise InvalidInput("path", "must be UTF-8", shorten(str(error)), "Check the file.")


def _named(content: dict[str, Any], arm: int) -> str:
    """Return the name this module wrote for an arm, else its number."""
    offered = content.get("c", {}).get("_multi", [])
    described = offered[arm - 1] if 0 < arm <= len(offered) else {}
    arm_named = described.get(ARM) if isinstance(described, dict) else None
    return (
        str(arm_named["name"]) if isinstance(arm_named, dict) and "name" in arm_named else str(arm)
    )
