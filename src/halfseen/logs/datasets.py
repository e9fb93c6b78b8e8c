"""Logs with missing feedback: a synthetic one, and real ones from an installed package."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from halfseen.display import Shown
from halfseen.errors import StorageError
from halfseen.phrases import counted
from halfseen.tables import Table

if TYPE_CHECKING:
    import pandas as pd

LICENCE = "MIT, as part of the package causaldata"
DEMO_ROWS, DEMO_DAYS, DEMO_DELAY = 2_400, 60, 1.5  # the last is the mean delay in days


class _Offer(NamedTuple):
    name: str
    seen: float  # the share of its outcomes that become known
    sells: float


DEMO_OFFERS = (
    _Offer("coupon", 0.85, 0.18),
    _Offer("bundle", 0.6, 0.34),
    _Offer("shipping", 0.4, 0.16),
    _Offer("trial", 0.15, 0.2),
)


@dataclass(frozen=True, repr=False)
class Dataset(Shown):
    """A log with the meaning of its columns and where it comes from.

    Attributes
    ----------
    log
        The rows.
    columns
        What `halfseen.audit` must be told about them.
    description, citation, licence
        What was measured, who measured it, and on which terms it may be used.
    """

    log: pd.DataFrame = field(repr=False)
    columns: dict[str, str]
    description: str
    citation: str
    licence: str = LICENCE

    def _headline(self) -> str:
        return f"{counted('row', len(self.log))} of {', '.join(map(str, self.log.columns))}"

    def _details(self) -> list[str | Table]:
        meaning = Table(("meaning", "column"), tuple(self.columns.items()))
        return [self.description, meaning, f"{self.citation} ({self.licence})"]


def load_demo() -> Dataset:
    """Return a synthetic log: which offers were sent by e-mail, and which sales became known, when.

    2,400 decisions of sixty days, made by a seeded generator, so that it is the same everywhere.
    Whether ``trial`` was sold becomes known least often.

    Examples
    --------
    >>> from halfseen import audit, datasets
    >>> data = datasets.load_demo()
    >>> found = audit(data.log, **data.columns)
    >>> found.rows, found.arms
    (2400, ('bundle', 'coupon', 'shipping', 'trial'))
    """
    import pandas as pd

    draw = random.Random(20240101).random  # whose numbers are the same in every version of Python
    start, day = pd.Timestamp("2024-01-01"), 86_400.0
    rows = []
    for n in range(DEMO_ROWS):
        sent = start + pd.Timedelta(seconds=round((n + draw()) / DEMO_ROWS * DEMO_DAYS * day))
        offer = DEMO_OFFERS[int(len(DEMO_OFFERS) * draw())]
        seen, sold = draw() < offer.seen, draw() < offer.sells
        known = sent + pd.Timedelta(seconds=round(-DEMO_DELAY * day * math.log(1.0 - draw())))
        back = seen and known < start + pd.Timedelta(days=DEMO_DAYS)
        rows.append((sent, offer.name, float(sold) if back else None, known if back else None))
    return Dataset(
        pd.DataFrame(rows, columns=["sent", "offer", "sold", "known"]),
        {"action": "offer", "reward": "sold", "time": "sent", "feedback_time": "known"},
        f"A synthetic log of {DEMO_ROWS:,} offers sent by e-mail in {DEMO_DAYS} days: whether each"
        " was sold, where that became known.",
        "Made by a seeded generator.",
        "The licence of halfseen",
    )


def load_hiv_incentives() -> Dataset:
    """Return an experiment that paid people to learn the result of their HIV test.

    2,821 people in rural Malawi were tested in 2004 and drew a random sum of money, from nothing to
    about 3 dollars, that they would get if they came for the result. The arm is the sum in steps of
    40 cents. The test's result (``positive``) was known to the researchers in any case: give it as
    ``reward`` to check whether what went missing depends on it. Undecided tests are left out.

    References
    ----------
    Thornton (2008), The demand for, and impact of, learning HIV status.

    Examples
    --------
    >>> from halfseen import audit, datasets
    >>> data = datasets.load_hiv_incentives()
    >>> found = audit(data.log, **data.columns)
    >>> found.rows, round(found.effective_dimension.value, 1)
    (2821, 11.8)
    """
    import numpy as np
    import pandas as pd

    raw = pd.read_stata(_file("thornton_hiv", "thornton_hiv.dta"))
    raw = raw.dropna(subset=["got", "tinc", "hiv2004"])
    raw = raw[raw["hiv2004"] >= 0]
    step = np.minimum(np.ceil(raw["tinc"].to_numpy(dtype=float) / 0.4), 7).astype(int)
    names = (
        ["$0.00"] + [f"${0.4 * i - 0.39:.2f}–{0.4 * i:.2f}" for i in range(1, 7)] + ["$2.41–2.84"]
    )
    log = pd.DataFrame(
        {
            "incentive": np.array(names)[step],
            "collected": raw["got"].to_numpy() == 1,
            "positive": raw["hiv2004"].to_numpy(dtype=float),
            "village": raw["villnum"].to_numpy(),
        }
    )
    return Dataset(
        log,
        {"action": "incentive", "observed": "collected"},
        "Who came for the result of an HIV test, by the sum of money promised for coming.",
        "Thornton, R. L. (2008). The demand for, and impact of, learning HIV status."
        " American Economic Review 98(5), 1829-1863.",
    )


def load_college_earnings() -> Dataset:
    """Return median earnings of former students of US colleges, a third of them missing.

    48,445 rows, one per college and year. The arm is the kind of degree mostly awarded; earnings
    are missing where too few students can be followed, and in 2015 and 2016 altogether.

    Examples
    --------
    >>> from halfseen import audit, datasets
    >>> data = datasets.load_college_earnings()
    >>> found = audit(data.log, **data.columns)
    >>> [warning.kind for warning in found.warnings]
    ['falls-at-end']
    """
    import pandas as pd

    raw = pd.read_stata(_file("scorecard", "scorecard.dta"))
    log = pd.DataFrame(
        {
            "college": raw["unitid"],
            "degree": raw["pred_degree_awarded_ipeds"].astype(str),
            "year": raw["year"].astype("int64"),
            "earnings": raw["earnings_med"],
        }
    )
    return Dataset(
        log,
        {"action": "degree", "reward": "earnings", "time": "year"},
        "Median earnings ten years after starting college, by college and year.",
        "US Department of Education, College Scorecard, through the Education Data Portal (Version"
        " 0.4.0), Urban Institute.",
    )


def load_legislator_emails() -> Dataset:
    """Return an experiment that wrote to 5,593 US legislators and waited for an answer.

    A message from a black sender, from inside or outside the district, at random. The arm is the
    combination of legislator and sender; there is no reward beyond whether an answer came.

    References
    ----------
    Broockman (2013), Black politicians are more intrinsically motivated to advance blacks'
    interests.

    Examples
    --------
    >>> from halfseen import audit, datasets
    >>> data = datasets.load_legislator_emails()
    >>> audit(data.log, **data.columns).observe.round(2).tolist()
    [0.46, 0.32, 0.56, 0.29]
    """
    import numpy as np
    import pandas as pd

    raw = pd.read_csv(_file("black_politicians", "black_politicians.csv"))
    raw.columns = [name.strip('"') for name in raw.columns]
    who = np.where(raw["leg_black"] == 1, "black legislator", "other legislator")
    where = np.where(raw["treat_out"] == 1, "outside", "inside")
    log = pd.DataFrame(
        {
            "message": [f"{a}, from {b}" for a, b in zip(who, where, strict=True)],
            "answered": raw["responded"].to_numpy() == 1,
            "senator": raw["leg_senator"].to_numpy() == 1,
        }
    )
    return Dataset(
        log,
        {"action": "message", "observed": "answered"},
        "Whether a US legislator answered an e-mail, by legislator and sender.",
        "Broockman, D. E. (2013). Black politicians are more intrinsically motivated to advance"
        " blacks' interests. American Journal of Political Science 57(3), 521-536.",
    )


def _file(folder: str, name: str) -> Path:
    """Return a file of the package causaldata, without importing it and all it needs."""
    found = find_spec("causaldata")
    if found is None or not found.submodule_search_locations:
        raise StorageError(
            "The data sets are part of the package causaldata, which is not installed."
            " Run: pip install 'halfseen[datasets]'."
        )
    return Path(found.submodule_search_locations[0]) / folder / name
