"""What an agent says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.display import Shown
from halfseen.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Mapping


class ShownAgent(Shown):
    """Says which policy decides, how many decisions were made and how many were seen."""

    policy: Any

    if TYPE_CHECKING:

        @property
        def decisions(self) -> int:
            """How many decisions were made."""

        @property
        def observations(self) -> int:
            """How many rewards were observed."""

        @property
        def pending(self) -> Mapping[int, Any]:
            """The decisions that are not settled."""

    def _size(self) -> str:
        """Return what can be chosen."""
        return f"dimension {self.setting.dimension}"  # type: ignore[attr-defined]

    def _headline(self) -> str:
        return (
            f"{self.policy!r}, {self._size()}; {counted('decision', self.decisions)},"
            f" {self.observations:,} observed, {len(self.pending):,} pending"
        )
