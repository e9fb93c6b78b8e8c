"""# A smooth censorship approximated by steps

Results for multi-threshold models carry over to any censorship that decreases along a direction:
`staircase` returns the steps with the smallest maximal error, which is the range of p divided by
twice their number.
"""

import altair as alt
import numpy as np

from halfseen import Logistic, staircase
from halfseen.report import styled

smooth = Logistic([1, 0], slope=-4.0, offset=0.5)
along = np.linspace(-1, 1, 401)
curves = {"logistic": smooth.along(along)}
for regions in (3, 8):
    steps, error = staircase(smooth, regions)
    actions = np.column_stack([along, np.zeros_like(along)])
    curves[f"{regions} steps, off by {error:.2f}"] = steps.probabilities(actions)

rows = [
    {"along": float(s), "p": float(p), "what": name}
    for name, values in curves.items()
    for s, p in zip(along, values, strict=True)
]
chart = styled(
    alt.Chart(alt.Data(values=rows))
    .mark_line()
    .encode(
        x=alt.X("along:Q", title="projection of the action on u"),
        y=alt.Y("p:Q", title="probability of being observed"),
        color=alt.Color("what:N", sort=list(curves)),
    )
)
chart.save("plot_staircase.svg")
