"""# Feedback that becomes rarer along a direction

Actions are points of the unit ball, and the larger their projection on a direction u, the less
often their outcome is observed: nine in ten, then half, then one in ten (line). The reward also
grows along u. LinUCB plays where rewards are large (bars), so most rounds fall into the region with
the least feedback.
"""

import altair as alt
import numpy as np

from halfseen import LinearBandit, LinUCB, MultiThreshold, RandomActions, Study, simulate
from halfseen.report import styled

censorship = MultiThreshold([0.2, 0.7], observe=[0.9, 0.5, 0.1], direction=[1, 0, 0])
study = Study(
    LinearBandit([0.8, 0.3, 0.0], noise=0.5, actions=RandomActions(count=10, dimension=3)),
    censorship,
    LinUCB(),
    horizon=5_000,
    replications=10,
    checkpoints=1,
    baseline=False,
)
pulls = simulate(study).data["pulls"].mean("replication").squeeze(drop=True).values

edges = [-1.0, *np.sin(censorship.threshold_radians).tolist(), 1.0]
rows = [
    {"from": low, "to": high, "share": float(share), "p": p}
    for low, high, share, p in zip(
        edges, edges[1:], pulls / pulls.sum(), censorship.observe, strict=False
    )
]
base = alt.Chart(alt.Data(values=rows)).encode(
    x=alt.X("from:Q", title="projection of the action on u"), x2="to:Q"
)
bars = base.mark_rect(color="#9fb3c2").encode(
    y=alt.Y("share:Q", title="share of rounds (bars), observed (line)").scale(domain=[0, 1]),
    y2=alt.datum(0),
)
chart = styled(bars + base.mark_rule(size=3, color="#D55E00").encode(y="p:Q"))
chart.save("plot_thresholds.svg")
