"""Arms of which only one value is written, while the rewards of other arms vary."""

from __future__ import annotations

import numpy as np

from halfseen.logs.counts import Counts, Decisions
from halfseen.logs.option_names import option
from halfseen.logs.warnings.log_warning import SURE, Check, LogWarning, unknown
from halfseen.logs.warnings.sampled_rewards import Rewards
from halfseen.tables import brief, listed, percent, show
from halfseen.theory.events import clopper_pearson

LEAST = 20  # rewards seen of an arm before it is judged, or others are judged by it
LESS = 0.75  # part of the other arms' lowest rate below which an arm is seen much less
ALIKE, COMPLETE = 0.8, 0.9  # rates of several others, and of a single one, that are a yardstick
NAMED, NOTES = 50, 3  # arms in a warning's facts, and notes
LOOKED_FOR = "arms of which only one value is written"


def look_at_constant_arms(decisions: Decisions, rewards: Rewards) -> tuple[Check, list[str]]:
    """Look for arms that send only what happened; also return what may be as it is, as a note.

    All rewards seen of an arm are one value that other arms show too, which chance would do in less
    than 1 of 1,000 logs if it were no commoner there than in any other arm. It is a warning if the
    arm is also seen much less than the others, which are seen about as often as each other. An arm
    that always earns the same and happens to be seen so looks alike: so it is a question.
    """
    counts = decisions.counts
    if decisions.columns.reward is None or len(counts) < 2 or counts.seen.max() < LEAST:
        why = f"it takes two arms, one of them with {LEAST} rewards"
        return unknown("constant-arms", LOOKED_FOR, why), []
    spread = np.sqrt(np.nan_to_num(counts.variance)) > 1e-9 * np.abs(np.nan_to_num(counts.mean))
    varied = counts.part(spread & (counts.seen >= LEAST))
    alike = ~spread & (counts.seen >= LEAST) & (counts.mean != 0.0) & (counts.seen < counts.rows)
    limit = _much_less(varied)
    suspects: list[int] = []
    notes: list[str] = []
    for place in np.flatnonzero(alike).tolist():
        seen, value = int(counts.seen[place]), _nearest(rewards, float(counts.mean[place]))
        if _largest_share(rewards, value) ** seen * len(counts) >= SURE:
            continue
        if float(clopper_pearson(seen, counts.rows[place], 1.0 - SURE)[1]) < limit:
            suspects.append(place)
        else:
            notes.append(
                f"Every reward seen of {_quoted(counts.names[place])} is {show(value)}. If only"
                " such rewards are recorded for it, its mean here is invalid."
            )
    if not suspects:
        said = "see the notes" if notes else ""
        return Check("constant-arms", LOOKED_FOR, "not found", said), notes[:NOTES]
    warning = _warning(counts.part(suspects), varied, rewards)
    return Check("constant-arms", LOOKED_FOR, "found", warning.finding, warning=warning), []


def _warning(arms: Counts, others: Counts, rewards: Rewards) -> LogWarning:
    values = sorted({_nearest(rewards, float(mean)) for mean in arms.mean})
    rate, usual = (float(x.seen.sum() / x.rows.sum()) for x in (arms, others))
    own, it, plural = ("its", "it", "") if len(arms) == 1 else ("their", "them", "s")
    return LogWarning(
        "one-value",
        f"Every reward seen of {listed([_quoted(name) for name in arms.names], 3)} is"
        f" {listed([show(value) for value in values], 3)}, and {percent(rate)} of {own} rewards are"
        f" seen; those of the other arms vary and {percent(usual)} are seen. Is that so, or are"
        f" only successes recorded for {it}?",
        f"If so, empty means 0 there, {own} mean is far too high and no comparison with {it} is"
        " valid.",
        f"Then write the zeros of these decisions too, or leave the arm{plural} out"
        f" ({option('drop_arms')}).",
        {"arms": list(arms.names[:NAMED]), "values": values[:NAMED], "rate": rate},
    )


def _much_less(others: Counts) -> float:
    """Return the rate below which an arm is seen much less than others, 0 where these differ."""
    if not len(others):
        return 0.0
    rates = others.seen / others.rows
    alike = rates.min() >= (ALIKE * rates.max() if len(others) > 1 else COMPLETE)
    return float(LESS * rates.min()) if alike else 0.0


def _nearest(rewards: Rewards, mean: float) -> float:
    """Return the reward that a mean of equal ones is, but for rounding."""
    return float(rewards.values[np.argmin(np.abs(rewards.values - mean))])


def _largest_share(rewards: Rewards, value: float) -> float:
    """Return the largest share a value may have in an arm whose rewards vary; 1 if it has none."""
    sizes = np.bincount(rewards.arm)
    times = np.bincount(rewards.arm[rewards.reward == value], minlength=len(sizes))
    varied = (sizes >= LEAST) & (times < sizes)
    if not times[varied].any():
        return 1.0
    return float(clopper_pearson(times[varied], sizes[varied], 1.0 - SURE)[1].max())


def _quoted(name: str) -> str:
    return f"“{brief(name, 40)}”"
