"""Vowpal Wabbit's logs of decisions, in and out: dsjson, and the text of cb_adf."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from halfseen import checks
from halfseen.errors import InvalidInput, StorageError, shorten
from halfseen.interchange.rows import open_decisions, parts
from halfseen.storage import explained

FORMATS = ("dsjson", "cb_adf")


def write_vowpal_wabbit(
    log: Any,
    path: Path | str,
    *,
    action: str,
    reward: str,
    propensity: str | None = None,
    features: Sequence[str] = (),
    format: str = "dsjson",
) -> int:
    """Write a log for Vowpal Wabbit.

    Parameters
    ----------
    log, action, reward, propensity, features
        As in `halfseen.audit`; features are shared by all arms. Without a propensity, an arm's
        share of the log stands for it.
    path
        The file to write.
    format
        ``"dsjson"``, for ``--dsjson``, or ``"cb_adf"``, its text.

    Returns
    -------
    int
        How many decisions were written.

    Notes
    -----
    A cost is minus a reward. A missing reward is no cost: in dsjson it is marked ``_skipLearn``,
    in text it has no label, and Vowpal Wabbit learns nothing from either.
    """
    format = checks.one_of("format", format, FORMATS)
    decisions = open_decisions(log, action, reward, propensity, features)
    names = decisions.counts.names
    write = _dsjson if format == "dsjson" else _text
    written = 0
    path = Path(path)
    with explained(path), path.open("w", encoding="utf-8") as file:
        for part in parts(decisions):
            columns = (part.action.tolist(), part.reward.tolist(), part.propensity.tolist())
            for arm, gain, chance, row in zip(*columns, part.features.tolist(), strict=True):
                file.write(write(written, arm, gain, chance, row, names))
                written += 1
    return written


def _dsjson(
    event: int, arm: int, reward: float, chance: float, row: list[float], names: Sequence[str]
) -> str:
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
        "c": {
            "Shared": {f"f{i}": value for i, value in enumerate(row) if not math.isnan(value)},
            "_multi": [{"Arm": {"name": name}} for name in names],
        },
        "p": [chance, *[rest] * (len(names) - 1)],
    }
    if missing:
        content["_skipLearn"] = True
    return json.dumps(content, ensure_ascii=False) + "\n"


def _text(
    event: int, arm: int, reward: float, chance: float, row: list[float], names: Sequence[str]
) -> str:
    values = " ".join(f"f{i}:{value!r}" for i, value in enumerate(row) if not math.isnan(value))
    lines = [f"shared |Shared {values}".rstrip()]
    for i, name in enumerate(names):
        label = f"0:{-reward!r}:{chance!r} " if i == arm and not math.isnan(reward) else ""
        lines.append(f"{label}|Arm {_word(name)}")
    return "\n".join(lines) + "\n\n"


def _word(name: str) -> str:
    """Write a name as one word that means nothing else to Vowpal Wabbit."""
    return "".join("_" if letter in " :|\t\r\n" else letter for letter in name) or "_"


def read_vowpal_wabbit(path: Path | str) -> dict[str, list[Any]]:
    """Read decisions from a dsjson file.

    Parameters
    ----------
    path
        The file, one decision a line.

    Returns
    -------
    dict
        ``action``, ``reward`` (minus the cost; None where ``_skipLearn`` is set or there is no
        cost) and ``propensity``: columns that `halfseen.audit` reads.

    Notes
    -----
    In text of cb_adf a missing label does not say which arm was chosen, so that only dsjson can be
    read back.
    """
    columns: dict[str, list[Any]] = {"action": [], "reward": [], "propensity": []}
    for number, content in _lines(Path(path)):
        try:
            arm = content.get("_label_Action", content.get("_labelIndex"))
            arm = int(content["a"][0]) if arm is None else int(arm)
            if "_label_Action" not in content and "_labelIndex" in content:
                arm += 1
            cost = None if content.get("_skipLearn") else content.get("_label_cost")
            chance = content.get("_label_probability", (content.get("p") or [None])[0])
            columns["action"].append(_named(content, arm))
            columns["reward"].append(None if cost is None else -float(cost))
            columns["propensity"].append(None if chance is None else float(chance))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise InvalidInput(
                f"line {number}", "must be a decision in dsjson", content, "Check the file."
            )
    return columns


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, json.loads(line)
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("path", "must be dsjson", shorten(str(error)), "Check the file.")


def _named(content: dict[str, Any], arm: int) -> str:
    """Return the name this module wrote for an arm, else its number."""
    offered = content.get("c", {}).get("_multi", [])
    described = offered[arm - 1] if 0 < arm <= len(offered) else {}
    arm_named = described.get("Arm") if isinstance(described, dict) else None
    return (
        str(arm_named["name"]) if isinstance(arm_named, dict) and "name" in arm_named else str(arm)
    )
