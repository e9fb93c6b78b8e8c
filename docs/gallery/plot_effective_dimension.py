"""# The effective dimension against one arm's feedback

The effective dimension is the sum of 1/p over the arms. Here one arm's probability p of being
observed varies and the others stay at 0.9. Between 1 and one half it changes little. Below that,
this one arm dominates, however many others there are.
"""

import altair as alt
import numpy as np

from halfseen import theory
from halfseen.report import styled

rows = [
    {
        "p": float(p),
        "dimension": theory.effective_dimension([p] + [0.9] * others),
        "arms": f"{others + 1} arms",
    }
    for others in (1, 4, 19)
    for p in np.geomspace(0.01, 1.0, 60)
]
chart = (
    alt.Chart(alt.Data(values=rows))
    .mark_line()
    .encode(
        x=alt.X("p:Q", title="probability that one arm is observed")
        .scale(type="log")
        .axis(values=[0.01, 0.03, 0.1, 0.3, 1]),
        y=alt.Y("dimension:Q", title="effective dimension")
        .scale(type="log", domain=[1, 200])
        .axis(values=[1, 3, 10, 30, 100]),
        color=alt.Color("arms:N", sort=["2 arms", "5 arms", "20 arms"]),
    )
)
chart = styled(chart)
chart.save("plot_effective_dimension.svg")
