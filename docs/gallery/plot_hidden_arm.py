"""# Which arm is censored matters more than how much

Three arms, one of which is observed with probability p and the others always. The effective
dimension 2 + 1/p is the same whichever it is. But when the *best* arm is censored, UCB keeps
playing it to learn its mean, and regret falls. When a worse arm is censored, regret rises as the
theory says. The effective dimension describes the worst case.
"""

import altair as alt
import numpy as np

from halfseen import UCB, ArmedBandit, PerArm, Study, simulate
from halfseen.report import styled

grid = np.geomspace(0.03, 1.0, 8).tolist()
hidden = {"the best arm": 0, "the second": 1, "the worst": 2}
observe = {
    f"{name}|{p}": [p if arm == which else 1.0 for arm in range(3)]
    for name, which in hidden.items()
    for p in grid
}
study = Study(
    ArmedBandit([0.7, 0.5, 0.3], reward="bernoulli"),
    {name: PerArm(p) for name, p in observe.items()},
    UCB(),
    horizon=20_000,
    replications=60,
    checkpoints=1,
)
regret = simulate(study).data["regret"].mean("replication").squeeze(drop=True)
rows = [
    {
        "p": float(name.split("|")[1]),
        "regret": float(regret.sel(censorship=name)),
        "hidden": name.split("|")[0],
    }
    for name in observe
]
chart = styled(
    alt.Chart(alt.Data(values=rows))
    .mark_line(point=True)
    .encode(
        x=alt.X("p:Q", title="probability that it is observed")
        .scale(type="log", nice=False)
        .axis(values=[0.03, 0.1, 0.3, 1]),
        y=alt.Y("regret:Q", title="regret after 20,000 rounds")
        .scale(type="log", domain=[30, 3000])
        .axis(values=[30, 100, 300, 1000, 3000]),
        color=alt.Color("hidden:N", sort=list(hidden)),
    )
)
chart.save("plot_hidden_arm.svg")
