"""Claims, the evidence from experiments, and the resulting verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from halfseen.display import Shown
from halfseen.tables import show

if TYPE_CHECKING:
    from halfseen.claims.laboratory import Laboratory

HOLDS = "holds"
CORRECTED = "holds corrected"
REFUTED = "refuted as printed"
UNDECIDED = "undecided"
VERDICTS = (HOLDS, CORRECTED, REFUTED, UNDECIDED)
RELATIONS = {"at most": "≤", "at least": "≥", "equals": "="}
ROUNDING = 1e-12  # relative rounding error of computed numbers
TOO_WIDE = 2.0  # an equality is undecided if the interval spans this factor
FAR = 0.1  # a bound is called far from tight if no instance found reaches this share of it


@dataclass(frozen=True)
class Measured:
    """A number with its confidence interval; for an exact computation the number itself.

    >>> Measured(3.0).text, Measured(0.5212, 0.48, 0.56).text
    ('3', '0.52 ± 0.04')
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.low):
            object.__setattr__(self, "low", self.value)
        if math.isnan(self.high):
            object.__setattr__(self, "high", self.value)

    @property
    def half(self) -> float:
        """Half the length of the interval, 0 when exact."""
        return 0.5 * (self.high - self.low)

    @property
    def text(self) -> str:
        """The number with the digits its interval justifies."""
        if self.half <= 0.0:
            return show(float(self.value))
        digits = -math.floor(math.log10(self.half))
        if digits > 4 or self.low > self.value - 0.5 * self.half:  # tiny, or asymmetric as near 0
            return f"{show(float(self.value))} [{show(float(self.low))}, {show(float(self.high))}]"
        places = max(0, digits)
        return f"{self.value:,.{places}f} ± {self.half:,.{places}f}"


@dataclass(frozen=True)
class Comparison:
    """One measured number against one claimed number.

    Parameters
    ----------
    where
        A short description of the instance.
    measured
        The measured number.
    relation
        ``"at most"``, ``"at least"`` or ``"equals"``: the claimed relation.
    claimed
        The number or bound claimed.
    tolerance
        Relative tolerance, for an equality that holds only in the limit.
    searched
        Number of instances from which this one was chosen because it comes closest to a
        contradiction; 0 for an instance fixed in advance.

    Examples
    --------
    >>> Comparison("T = 10", Measured(4.0, 3.5, 4.5), "at most", 3.0).refuted
    True
    >>> Comparison("T = 10", Measured(4.0, 2.9, 5.1), "at most", 3.0).refuted
    False
    """

    where: str
    measured: Measured
    relation: str
    claimed: float
    tolerance: float = 0.0
    searched: int = 0

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"unknown relation: {self.relation}")

    @property
    def refuted(self) -> bool:
        """True when the measurement contradicts the claim beyond its interval."""
        slack = abs(self.claimed) * max(self.tolerance, ROUNDING)
        above = self.measured.low > self.claimed + slack
        below = self.measured.high < self.claimed - slack
        return bool({"at most": above, "at least": below, "equals": above or below}[self.relation])

    @property
    def decided(self) -> bool:
        """False if the interval is too wide to refute any claim of equality."""
        if self.relation != "equals" or self.refuted:
            return True
        size = abs(self.claimed)
        return self.measured.half <= max(size * (TOO_WIDE - 1.0) / TOO_WIDE, 1e-300)

    @property
    def strain(self) -> float:
        """Closeness to a contradiction: above 1 if it is one, up to rounding."""
        found, claimed = self.measured, self.claimed
        if self.relation == "equals":
            room = abs(claimed) * max(self.tolerance, ROUNDING) + found.half
            off = abs(found.value - claimed)
            return off / room if room > 0.0 else (math.inf if off > 0.0 else 0.0)
        top, bottom = (found.low, claimed) if self.relation == "at most" else (claimed, found.high)
        if top < 0.0 and bottom < 0.0:
            return bottom / top
        if bottom <= 0.0:
            return math.inf if top > bottom else 0.0
        return top / bottom

    def statement(self, words: bool = False) -> str:
        """Return the claimed relation and number, with a symbol or in words.

        >>> Comparison("", Measured(1.0), "at most", 2.0).statement()
        '≤ 2'
        """
        sign = self.relation if words else RELATIONS[self.relation]
        near = f" (to {self.tolerance:.2g})" if self.tolerance else ""
        return f"{sign} {show(float(self.claimed))}{near}"

    def distorted(self, factor: float) -> Comparison:
        """Return the same comparison with the claimed number multiplied by a factor."""
        return replace(self, claimed=factor * self.claimed)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "where": self.where,
            "measured": self.measured.value,
            "low": self.measured.low,
            "high": self.measured.high,
            "relation": self.relation,
            "claimed": self.claimed,
            "tolerance": self.tolerance,
            "searched": self.searched,
            "refuted": self.refuted,
        }


@dataclass(frozen=True)
class Line:
    """One line of a chart: measured or claimed values."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] = ()
    claimed: bool = False


@dataclass(frozen=True)
class Curve:
    """A chart of a bound and measurements, usually against rounds."""

    title: str
    across: str
    upwards: str
    lines: tuple[Line, ...]
    log_across: bool = True
    log_upwards: bool = False


@dataclass(frozen=True)
class Evidence:
    """The evidence from an experiment about the printed and the corrected statement.

    Parameters
    ----------
    printed
        Comparisons with the paper's statement, or with our own if it is not in the paper.
    corrected
        Comparisons with the corrected statement; empty if no correction is needed.
    curve
        An optional chart.
    """

    printed: tuple[Comparison, ...]
    corrected: tuple[Comparison, ...] = ()
    curve: Curve | None = None

    @property
    def closest(self) -> Comparison | None:
        """The inequality closest to failing in the statement that holds; None if it has none.

        Its `strain` is the tightness of the bound: the largest share of it that was reached.
        """
        survivors = self.corrected if any(c.refuted for c in self.printed) else self.printed
        bounds = [c for c in survivors if c.relation != "equals" and c.claimed != 0.0]
        return max(bounds, key=lambda c: c.strain, default=None)

    @property
    def searched(self) -> int:
        """Number of instances searched for the one that comes closest."""
        return sum(c.searched for c in (*self.printed, *self.corrected))

    def verdict(self, distort: float = 1.0) -> str:
        """Return the verdict on the printed statement or, if it is refuted, on the corrected one.

        Parameters
        ----------
        distort
            Factor applied to every claimed number, to test that wrong claims are refuted.
        """
        printed = [c.distorted(distort) for c in self.printed]
        corrected = [c.distorted(distort) for c in self.corrected]
        if not any(c.refuted for c in printed):
            return HOLDS if all(c.decided for c in printed) else UNDECIDED
        if not corrected or any(c.refuted for c in corrected):
            return REFUTED
        return CORRECTED if all(c.decided for c in corrected) else UNDECIDED


@dataclass(frozen=True, repr=False)
class Claim(Shown):
    """A statement and the experiment that could refute it.

    Parameters
    ----------
    name
        A short name, unique.
    place
        Place in the paper; ``"new"`` if it is not there.
    family
        Heading under which it is listed: ``"arms"``, ``"linear bandits"``, ...
    says
        The statement as printed, in a sentence.
    right
        The corrected statement; empty if the printed one is right.
    how
        The experiment: instances and what is compared.
    expected
        The verdict recorded in the documentation.
    erratum
        The anchor of the correction in ``docs/errata.md``; empty without one.
    run
        The experiment itself.
    """

    name: str
    place: str
    family: str
    says: str
    how: str
    run: Callable[[Laboratory], Evidence] = field(repr=False)
    right: str = ""
    expected: str = HOLDS
    erratum: str = ""

    @property
    def link(self) -> str:
        """Link to the correction in the documentation."""
        return f"docs/errata.md#{self.erratum}" if self.erratum else ""


@dataclass(frozen=True, repr=False)
class Finding(Shown):
    """A claim, the evidence from its experiment, and its duration."""

    claim: Claim
    evidence: Evidence
    seconds: float

    @property
    def verdict(self) -> str:
        """The verdict that follows from the measurements."""
        return self.evidence.verdict()

    @property
    def as_recorded(self) -> bool:
        """True if the verdict is the one recorded in the documentation."""
        return self.verdict == self.claim.expected

    @property
    def telling(self) -> Comparison:
        """The comparison with the printed statement that comes closest to a contradiction."""
        return max(self.evidence.printed, key=lambda c: (c.refuted, c.strain))

    @property
    def telling_corrected(self) -> Comparison | None:
        """The comparison with the corrected statement, on the same instance if it has one."""
        same = [c for c in self.evidence.corrected if c.where == self.telling.where]
        return max(same or self.evidence.corrected, key=lambda c: c.strain, default=None)

    @property
    def tightness(self) -> str:
        """A sentence on the tightness of the bound; empty for equalities."""
        best, tries = self.evidence.closest, self.evidence.searched
        if best is None:
            return ""
        among = f" of {tries:,} searched" if tries else ""
        reached = f"the closest instance{among} reaches {best.strain:.2g} of the bound"
        if best.strain < FAR:
            return f"Far from tight: {reached} ({best.where})."
        return f"{reached[0].upper()}{reached[1:]} ({best.where})."

    def __str__(self) -> str:
        claim, lines = self.claim, [f"{self.claim.name}: {self.verdict}"]
        told = {
            "place": claim.place,
            "says": claim.says,
            "right": claim.right,
            "run": claim.how,
            "tight": self.tightness,
            "see": claim.link,
        }
        lines += [f"  {key:<5}  {text}" for key, text in told.items() if text]
        for statement, comparisons in (
            ("", self.evidence.printed),
            ("corrected, ", self.evidence.corrected),
        ):
            for one in comparisons:
                outcome = "refuted" if one.refuted else "holds"
                numbers = f"{one.measured.text} {one.statement()}"
                lines.append(f"    {outcome:<8} {numbers:<34} {statement}{one.where}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        claim, best = self.claim, self.evidence.closest
        return {
            "name": claim.name,
            "place": claim.place,
            "family": claim.family,
            "says": claim.says,
            "right": claim.right,
            "how": claim.how,
            "verdict": self.verdict,
            "expected": claim.expected,
            "erratum": claim.link,
            "seconds": self.seconds,
            "tightest": None if best is None else best.strain,
            "searched": self.evidence.searched,
            "printed": [c.to_dict() for c in self.evidence.printed],
            "corrected": [c.to_dict() for c in self.evidence.corrected],
        }


def claim(
    name: str,
    *,
    place: str,
    family: str,
    says: str,
    how: str,
    right: str = "",
    expected: str = HOLDS,
    erratum: str = "",
) -> Callable[[Callable[[Laboratory], Evidence]], Claim]:
    """Decorate an experiment to turn it into a claim."""

    def made(run: Callable[[Laboratory], Evidence]) -> Claim:
        return Claim(name, place, family, says, how, run, right, expected, erratum)

    return made
