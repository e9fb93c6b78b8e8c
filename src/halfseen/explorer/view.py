"""A page of the explorer: settings, answers, charts, and equivalent code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from halfseen.explorer.controls import Control, read_all
from halfseen.studies.study import Study

Rows = list[dict[str, Any]]
REPLICATIONS, SEED = 128, 1  # of what is played


@dataclass(frozen=True)
class Picture:
    """A chart: its title, how to read it, Vega-Lite without data, and the data.

    Attributes
    ----------
    name, title, note
        Its key on the page, what it shows and how to read it.
    spec
        Vega-Lite; the data are named ``rows``.
    rows
        The data.
    frames
        How many frames it has, if it moves; the field ``frame`` numbers them from 0.
    """

    name: str
    title: str
    note: str
    spec: dict[str, Any]
    rows: Rows
    frames: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what the page's script draws."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "spec": self.spec,
            "rows": self.rows,
            "frames": self.frames,
        }


@dataclass(frozen=True)
class View(ABC):
    """One page of the explorer with its settings.

    Attributes
    ----------
    values
        The settings, by the name of their control.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    lead: ClassVar[str]
    controls: ClassVar[tuple[Control, ...]]

    values: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        """Return the view that a URL describes; InvalidInput if it is not valid."""
        view = cls(read_all(cls.controls, query))
        view.check()
        return view

    def check(self) -> None:
        """Refuse settings that do not fit each other."""
        self.study()

    @property
    def address(self) -> str:
        """The query string of this view."""
        return urlencode({c.name: c.write(self.values[c.name]) for c in self.controls}, safe=",")

    @abstractmethod
    def answers(self) -> list[str]:
        """Return the library's answers, in sentences."""

    @abstractmethod
    def pictures(self) -> list[Picture]:
        """Return the charts of the theory."""

    @abstractmethod
    def python(self) -> str:
        """Return Python code that computes the same."""

    @abstractmethod
    def toml(self) -> str:
        """Return the study as TOML, the one that is simulated if any."""

    def study(self) -> Study | None:
        """Return the study simulated on the page, if any."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return everything the page shows except the simulation."""
        return {
            "view": self.name,
            "address": self.address,
            "controls": [c.to_dict(self.values[c.name]) for c in self.controls],
            "answers": self.answers(),
            "pictures": [picture.to_dict() for picture in self.pictures()],
            "python": self.python(),
            "toml": self.toml(),
        }


def listed(values: Any) -> str:
    """Write numbers as a list, the same in Python and TOML.

    >>> listed((0.25, 1.0))
    '[0.25, 1]'
    """
    return "[" + ", ".join(format(value, ".10g") for value in values) + "]"
