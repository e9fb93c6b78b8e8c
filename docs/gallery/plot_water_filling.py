"""# Water-filling

Which allocation of 400 rounds to three arms has the largest potential, that is, keeps uncertainty
large for as long as possible? Every arm is a basin. Its width is 1/p: a rarely observed arm takes
many rounds to rise by one observation. Its floor is its initial count. The rounds are the water,
which reaches the same level everywhere. The third arm, which is known far better from the start,
gets hardly any.
"""

import altair as alt
import numpy as np

from halfseen import theory
from halfseen.report import styled

observe, floors = [0.5, 0.25, 0.8], [1, 2, 50]
filled = theory.water_filling(observe, regularization=floors, budget=400, alpha=0.5)

right = np.cumsum(1 / np.array(observe))
left = right - 1 / np.array(observe)
rows = []
for arm, rounds in enumerate(filled.allocation):
    here = {"left": left[arm] + 0.04, "right": right[arm] - 0.04, "x": (left + right)[arm] / 2}
    name = f"{rounds:.0f} rounds"
    rows.append(here | {"what": "known before", "low": 0, "high": floors[arm]})
    rows.append(here | {"what": "learned", "low": floors[arm], "high": filled.level, "name": name})

base = alt.Chart(alt.Data(values=rows))
basins = base.mark_rect().encode(
    x=alt.X("left:Q", title="arms, each 1/p wide").scale(nice=False),
    x2="right:Q",
    y=alt.Y("low:Q", title="observations"),
    y2="high:Q",
    color=alt.Color("what:N").scale(range=["#9fb3c2", "#56B4E9"]),
)
names = (
    base.transform_filter("isValid(datum.name)")
    .mark_text(dy=-8)
    .encode(x="x:Q", y="high:Q", text="name:N")
)
chart = styled(basins + names)
chart.save("plot_water_filling.svg")
