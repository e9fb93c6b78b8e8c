"""Requests to a loop and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Decide:
    """Ask for a decision.

    Attributes
    ----------
    id
        The client's id; the service generates one if it is None. Asked again under the same id with
        the same request, the loop repeats its answer.
    available
        The names of the arms on offer; all that are not retired if it is None. A loop of features
        takes the names of the actions here, and numbers them from 0 if it is None.
    features
        For a loop of features, one row per action. A loop of arms has none.
    hold
        True if the choice may never be shown: its window begins with `Activate`.
    client_at
        When, by the client's clock, in microseconds since 1970; stored, never used.
    """

    id: str | None = None
    available: Sequence[str] | None = None
    features: Sequence[Sequence[float]] | None = None
    hold: bool = False
    client_at: int | None = None


@dataclass(slots=True)
class Activate:
    """Report that a held decision is now shown."""

    id: str
    client_at: int | None = None


@dataclass(slots=True)
class Served:
    """Report what was shown, if it is not the choice.

    Attributes
    ----------
    id
        The decision.
    arm
        The name of the arm, or of the action of a loop of features.
    probability
        With which it was shown, if that is known.
    features
        Of the action, for a loop of features.
    """

    id: str
    arm: str
    probability: float | None = None
    features: Sequence[float] | None = None
    client_at: int | None = None


@dataclass(slots=True)
class Outcome:
    """Report the reward of a decision; None says that it will not come.

    Attributes
    ----------
    id, reward
        The decision and its reward.
    client_at
        When, by the client's clock, in microseconds since 1970.
    key
        The client's `Idempotency-Key`: the same outcome again under the same key counts once.
    """

    id: str
    reward: float | None
    client_at: int | None = None
    key: str | None = None


@dataclass(slots=True)
class Decided:
    """The answer to `Decide`.

    Attributes
    ----------
    id, arm, probability
        The decision, what to show, and with which probability it was chosen (None if the policy
        gives none).
    state
        ``"pending"`` or ``"held"``.
    version
        The last event of the log known to the choice.
    expires_at
        When the window closes, in microseconds since 1970; None while it is held.
    created
        False if the decision was made earlier and is only repeated.
    """

    id: str
    arm: str
    probability: float | None
    state: str
    version: int
    expires_at: int | None
    created: bool = True


@dataclass(slots=True)
class Noted:
    """The answer to `Activate`, `Served` and `Outcome`.

    Attributes
    ----------
    id
        The decision.
    state
        ``"held"``, ``"pending"``, ``"observed"``, ``"censored"``, ``"late"``, or ``"orphan"`` for
        an outcome whose decision is not known yet.
    created
        False if nothing was written because it was already known.
    """

    id: str
    state: str
    created: bool = True


Item = Decide | Activate | Served | Outcome
Answer = Decided | Noted
