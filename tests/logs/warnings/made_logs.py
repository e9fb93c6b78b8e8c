"""Made logs of which the truth is known: clean ones of many kinds, and ones with a defect.

4,000 rows, 60 days, 3 arms, delays of 7 days on average, 500 users, unless a kind says otherwise.
"""

import numpy as np
import pandas as pd

from halfseen.logs.columns import Columns, is_dated
from halfseen.logs.counts import read_decisions
from halfseen.logs.maturity import estimate_maturity
from halfseen.logs.source import open_log
from halfseen.logs.warnings.find import look

ROWS, DAYS, USERS = 4000, 60.0, 500
RATES, MEANS = np.array([0.3, 0.6, 0.85]), np.array([0.0, 0.3, 0.6])
START = pd.Timestamp("2026-01-05")  # a Monday
ROLES = {
    "action": "arm",
    "reward": "reward",
    "time": "time",
    "feedback_time": "back",
    "unit": "user",
}


class Parts:
    """The columns of a log before anything goes missing."""

    def __init__(self, rng, rows=ROWS):
        self.rng, self.rows = rng, rows
        self.time = np.sort(rng.random(rows)) * DAYS
        self.arm = rng.integers(0, 3, rows)
        self.user = rng.integers(0, USERS, rows)
        self.noise = rng.normal(size=rows)
        self.delay = rng.exponential(7.0, rows)
        self.context = rng.integers(0, 10, rows)
        self.factor = np.ones(rows)  # of the rate
        self.roles = dict(ROLES)
        self.ends_now = False
        self.reward = self.chance = None

    def arm_by(self, probabilities):
        """Draw the arm of each row from its own probabilities."""
        drawn = self.rng.random((self.rows, 1))
        self.arm = (drawn > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)

    def log(self):
        """Return the log and its roles."""
        reward = MEANS[self.arm] + self.noise if self.reward is None else self.reward
        chance = RATES[self.arm] * self.factor if self.chance is None else self.chance
        seen = self.rng.random(self.rows) < chance
        if self.ends_now:
            seen &= self.time + self.delay <= DAYS
        frame = pd.DataFrame(
            {
                "arm": self.arm,
                "user": self.user,
                "context": self.context,
                "time": START + pd.to_timedelta(self.time, unit="D"),
                "reward": np.where(seen, reward, np.nan),
            }
        )
        back = START + pd.to_timedelta(self.time + self.delay, unit="D")
        frame["back"] = back.to_series(index=frame.index).where(seen)
        return frame, {role: name for role, name in self.roles.items() if name is not None}


def shifting_mix(parts):
    top = 0.1 + 0.8 * parts.time / DAYS
    parts.arm_by(np.stack([(1 - top) / 2, (1 - top) / 2, top], axis=1))


def sticky_users(parts):
    parts.arm = parts.user % 3
    parts.noise = parts.noise + parts.rng.normal(size=USERS)[parts.user]


def heavy_users_differ(parts):
    sizes = parts.rng.geometric(1 / 8, USERS)
    parts.user = parts.rng.permutation(np.repeat(np.arange(USERS), sizes))
    parts.user = np.resize(parts.user, parts.rows)
    heavy = np.bincount(parts.user, minlength=USERS) > 12
    parts.noise = parts.noise + 0.8 * heavy[parts.user]


def trend_in_the_mean(parts):
    parts.noise = parts.noise + 2 * parts.time / DAYS


def weekly_cycle(parts):
    parts.factor = np.where(parts.time.astype(int) % 7 >= 5, 0.65, 1.0)


def opposite_weeks(parts):
    """Weekends have fewer rewards of one arm and more of another."""
    weekend = parts.time.astype(int) % 7 >= 5
    sign = np.array([1.0, -1.0, 0.0])[parts.arm]
    odds = np.log(RATES / (1 - RATES))[parts.arm] + 0.9 * sign * weekend
    parts.chance = 1 / (1 + np.exp(-odds))


def ends_now(parts):
    parts.ends_now = True


def sparse_contexts(parts):
    parts.context = parts.rng.integers(0, 400, parts.rows)
    parts.chance = np.array([0.02, 0.03, 0.04])[parts.arm]
    parts.roles["context"] = "context"


def users_differ_independently(parts):
    rng = parts.rng
    parts.noise = parts.noise + rng.normal(size=USERS)[parts.user]
    odds = np.log(RATES / (1 - RATES))[parts.arm] + rng.normal(size=USERS)[parts.user]
    parts.chance = 1 / (1 + np.exp(-odds))
    parts.delay = parts.delay * np.exp(0.5 * rng.normal(size=USERS))[parts.user]


def users_come_and_go(parts):
    """Users are active for five days, keep to an arm and differ in rate and reward."""
    rng = parts.rng
    parts.time = rng.random(USERS)[parts.user] * (DAYS - 5.0) + 5.0 * rng.random(parts.rows)
    order = np.argsort(parts.time)
    parts.time, parts.user = parts.time[order], parts.user[order]
    parts.arm = parts.user % 3
    odds = np.log(RATES / (1 - RATES))[parts.arm] + rng.normal(size=USERS)[parts.user]
    parts.chance = 1 / (1 + np.exp(-odds))
    parts.noise = parts.noise + rng.normal(size=USERS)[parts.user]


def decided_in_batches(parts):
    batches = np.sort(parts.rng.random(20)) * DAYS
    batch = np.sort(parts.rng.integers(0, 20, parts.rows))
    parts.time = batches[batch]
    return batch


def batches_differ(parts):
    """Every batch has a rate of its own, by nothing but chance."""
    batch = decided_in_batches(parts)
    odds = np.log(RATES / (1 - RATES))[parts.arm] + 0.3 * parts.rng.normal(size=20)[batch]
    parts.chance = 1 / (1 + np.exp(-odds))


def all_at_once(parts):
    shifting_mix(parts)
    trend_in_the_mean(parts)
    ends_now(parts)


def no_feedback_times(parts):
    parts.roles |= {"feedback_time": None, "context": "context"}


def binary(parts):
    parts.reward = (parts.rng.random(parts.rows) < np.array([0.3, 0.4, 0.5])[parts.arm]) * 1.0


def contexts_differ_in_delay(parts):
    """Contexts have the same rates in the end, but the log ends now."""
    ends_now(parts)
    parts.context = parts.rng.integers(0, 4, parts.rows)
    parts.delay = parts.rng.exponential(np.array([2, 4, 8, 12])[parts.context])
    parts.roles["context"] = "context"


def answered_on_mondays(parts):
    ends_now(parts)
    ready = parts.time + parts.rng.exponential(1.5, parts.rows)
    parts.delay = np.ceil(ready / 7) * 7 + 0.3 - parts.time


CLEAN = {
    "i.i.d.": lambda parts: None,
    "shifting mix": shifting_mix,
    "sticky users": sticky_users,
    "heavy users differ": heavy_users_differ,
    "trend in the mean": trend_in_the_mean,
    "weekly cycle": weekly_cycle,
    "log ends now": ends_now,
    "sparse contexts": sparse_contexts,
    "users differ, independently": users_differ_independently,
    "users come and go": users_come_and_go,
    "decided in 20 batches": decided_in_batches,
    "batches differ by chance": batches_differ,
    "ends now, trend, shifting mix": all_at_once,
    "no feedback times, contexts": no_feedback_times,
    "binary, 1,000 rows": binary,
}
DELAYS_DIFFER = {  # the same rates in the end
    "contexts differ in delay only, ends now": contexts_differ_in_delay,
    "answered on Mondays, ends now": answered_on_mondays,
}
TRUE_OF_CLEAN = {"weekly cycle": {"weekly"}}
FEWER_ROWS = {
    "binary, 1,000 rows": 1000,
    "reward decides, 2,000 rows": 2000,
    "reward decides, 1,000 rows": 1000,
    "ones 1.5 times slower, ends now, 1,500 rows": 1500,
}


def rate_falls(parts):
    parts.factor = np.where(parts.time > DAYS / 2, 0.8, 1.0)


def rate_dips(parts):
    parts.factor = np.where(np.abs(parts.time / DAYS - 0.5) < 0.1, 0.7, 1.0)


def rate_falls_slowly(parts):
    parts.factor = 1 - 0.3 * parts.time / DAYS


def rate_falls_and_mix_shifts(parts):
    shifting_mix(parts)
    parts.factor = np.where(parts.time > DAYS / 2, 0.7, 1.0)


def ends_now_unknown(parts):
    parts.ends_now = True
    parts.roles["feedback_time"] = None


def user_tied(parts):
    mood = parts.rng.normal(size=USERS)
    parts.noise = parts.noise + 0.7 * mood[parts.user]
    odds = np.log(RATES / (1 - RATES))[parts.arm] + mood[parts.user]
    parts.chance = 1 / (1 + np.exp(-odds))


def reward_decides(parts, alike=1 / 3, reversed_in=()):
    own = parts.rng.normal(size=USERS)[parts.user]
    parts.noise = np.sqrt(alike) * own + np.sqrt(1 - alike) * parts.noise
    sign = np.where(np.isin(parts.arm, reversed_in), -1.0, 1.0)
    odds = np.log(RATES / (1 - RATES))[parts.arm] + 0.7 * sign * parts.noise
    parts.chance = 1 / (1 + np.exp(-odds))


def slower_ones(times, now=False, faster_in=()):
    def change(parts):
        parts.reward = (parts.rng.random(parts.rows) < 0.5) * 1.0
        slower = np.where(np.isin(parts.arm, faster_in), 1.0 / times, times)
        parts.delay = parts.delay * np.where(parts.reward == 1.0, slower, 1.0)
        parts.ends_now = now

    return change


def contexts_differ(parts):
    parts.context = parts.rng.integers(0, 20, parts.rows)
    parts.factor = np.where(parts.context < 10, 0.6, 1.0)
    parts.roles |= {"context": "context", "feedback_time": None}


def zeros_written(parts, wobble=0.25):
    binary(parts)
    rng = parts.rng
    days = 1 + wobble * rng.choice([-1.0, 1.0], int(DAYS))
    chance = np.clip(0.6 * days[parts.time.astype(int)], 0, 1)
    seen, written = rng.random(parts.rows) < chance, rng.random(parts.rows) < 0.5
    parts.reward = np.where(seen, parts.reward, 0.0)
    parts.chance = np.where(seen | written, 1.0, 0.0)
    parts.roles["feedback_time"] = None


DEFECTS = {  # what makes it, the warning it must raise, and in how many of 100 logs
    "rate x 0.8 from halfway": (rate_falls, "drift", 100),
    "rate x 0.7 for a fifth of the time": (rate_dips, "drift", 100),
    "rate falls slowly to x 0.7": (rate_falls_slowly, "drift", 90),
    "rate x 0.7 from halfway, shifting mix": (rate_falls_and_mix_shifts, "drift", 100),
    "log ends now, no feedback times": (ends_now_unknown, "falls-at-end", 100),
    "rate x 0.65 at weekends": (weekly_cycle, "weekly", 100),
    "odds x 2.5 at weekends in one arm, / 2.5 in another": (opposite_weeks, "weekly", 90),
    "a user’s rate tied to the user’s mean": (user_tied, "units-tied", 100),
    "reward decides, users alike by a third": (reward_decides, "units-tied", 100),
    "reward decides, 2,000 rows": (reward_decides, "units-tied", 37),
    "reward decides, 1,000 rows": (reward_decides, "units-tied", 12),
    "ones 1.2 times slower": (slower_ones(1.2), "late-differ", 75),
    "ones 1.5 times slower": (slower_ones(1.5), "late-differ", 100),
    "ones 1.5 times slower, ends now": (slower_ones(1.5, now=True), "late-differ", 100),
    "ones 1.5 times slower, ends now, 1,500 rows": (
        slower_ones(1.5, now=True),
        "late-differ",
        60,
    ),
    "ones 1.5 times slower in one arm, faster in two": (
        slower_ones(1.5, faster_in=[0, 1]),
        "late-differ",
        100,
    ),
    "reward decides, the other way round in one arm": (
        lambda parts: reward_decides(parts, reversed_in=[1]),
        "units-tied",
        60,
    ),
    "half of the contexts x 0.6": (contexts_differ, "depends-on-context", 100),
    "half of the missing written 0, rate ±25% a day": (zeros_written, "zeros-follow", 60),
}
UNDECIDABLE = {  # defects that leave no trace: nothing may be claimed
    "reward decides, users not alike": (lambda p: reward_decides(p, 0.0), "units-tied"),
    "half of the missing written 0, rate constant": (
        lambda p: zeros_written(p, 0.0),
        "zeros-follow",
    ),
}


def made(kind, change, seed):
    """Return a log of a kind, and its roles."""
    parts = Parts(np.random.default_rng([seed, 2026]), FEWER_ROWS.get(kind, ROWS))
    change(parts)
    return parts.log()


def read(frame, roles):
    """Return a log's decisions, and whether its times are dates."""
    columns = Columns(**roles)
    decisions = read_decisions(open_log(frame), columns)
    return decisions, columns.time is not None and is_dated(decisions.log, columns.time)


def maturity_of(frame, roles, now=None):
    """Return what an audit says of delays, without its rates."""
    decisions, dated = read(frame, roles)
    return estimate_maturity(decisions, dated=dated, now=now)


def findings(frame, roles, now=None):
    """Return what an audit would find in a log, without its rates."""
    decisions, dated = read(frame, roles)
    return look(decisions, estimate_maturity(decisions, dated=dated, now=now), dated)


def kinds(kind, change, seed):
    """Return the kinds of warning that a made log raises."""
    frame, roles = made(kind, change, seed)
    end = START + pd.Timedelta(days=DAYS)
    now = end.timestamp() if frame.back.max() <= end and frame.time.max() <= end else None
    return {warning.kind for warning in findings(frame, roles, now).warnings}
