"""# Every bound next to the measured regret

Proved bounds on the regret of UCB in one problem, and its measured regret. Bounds hold for every
problem of the same shape, so they are far above the regret in a benign one. The sharpest, which
uses the gaps, is within a small factor here. The paper's own bounds have a different colour.
"""

import altair as alt

from halfseen import UCB, ArmedBandit, PerArm, Study, simulate, theory
from halfseen.report import styled

problem = ArmedBandit([0.9, 0.6, 0.4], noise=0.3)
censorship, horizon = PerArm([0.5, 0.3, 0.8]), 20_000
study = Study(
    problem, censorship, UCB(), horizon=horizon, replications=200, checkpoints=1, baseline=False
)
measured = float(simulate(study).data["regret"].mean())

rows = [
    {
        "name": bound.name,
        "value": bound.value,
        "whose": "the paper" if bound.paper else "proved here",
    }
    for bound in theory.regret_bounds(problem, censorship, UCB(), horizon)
    if bound.name != "trivial"
]
bars = (
    alt.Chart(alt.Data(values=rows))
    .mark_bar()
    .encode(
        x=alt.X("value:Q", title="regret after 20,000 rounds")
        .scale(type="log", domain=[10, 2e4])
        .axis(values=[10, 100, 1000, 10_000]),
        x2=alt.datum(10),
        y=alt.Y("name:N", title=None, sort="x"),
        color=alt.Color("whose:N", sort=["proved here", "the paper"]).legend(offset=26),
    )
)
rule = alt.Chart(alt.Data(values=[{"value": measured, "name": "measured"}])).encode(x="value:Q")
words = rule.mark_text(align="left", dx=5, y=-2, baseline="bottom").encode(text="name:N")
chart = styled((bars + rule.mark_rule(size=2) + words).properties(width=330, height=250))
chart.save("plot_bounds.svg")
