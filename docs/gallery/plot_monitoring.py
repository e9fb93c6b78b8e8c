"""# The gain from a single look

Suppose you may look once, after a share of the rounds, at which rewards are missing. According to
the paper the gain is proportional to that share. That holds if the first rounds are spread in
proportion to 1/p. It is better to play the arms whose missingness is least predictable first: a
fractional knapsack, concave in the share, and above the paper's line wherever arms differ.
"""

import altair as alt
import numpy as np

from halfseen import theory
from halfseen.report import styled

rows = []
for share in np.linspace(0.0, 1.0, 101).tolist():
    look = theory.monitoring_constant([0.02, 0.5], alpha=1.0, at=share)
    rows.append({"share": share, "gain": look.value, "what": "true"})
    rows.append({"share": share, "gain": look.papers_claim, "what": "printed"})

chart = styled(
    alt.Chart(alt.Data(values=rows))
    .mark_line()
    .encode(
        x=alt.X("share:Q", title="share of the rounds before the look"),
        y=alt.Y("gain:Q", title="gain over no look, times T"),
        color=alt.Color("what:N", sort=["true", "printed"]),
        strokeDash=alt.StrokeDash("what:N", sort=["true", "printed"], legend=None),
    )
)
chart.save("plot_monitoring.svg")
