"""# A censored arm is several uncensored ones

In what sense is a censored problem like an uncensored one with d_eff arms? An arm observed with
probability 1/k is like k copies of it that are always observed: it takes as many rounds to learn
its mean. The chart compares three arms observed with probability 1/4 with twelve arms that are
always observed, four copies of each. Both have an effective dimension of 12, and their regrets
differ by a few per cent. The best arm must be copied too.
"""

import altair as alt
import pandas as pd

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.report import styled

means, copies = [0.7, 0.5, 0.3], 4
worlds = {
    "3 arms, one in four seen": (means, 1 / copies),
    "12 arms, all seen": (means * copies, 1.0),
    "3 arms, all seen": (means, 1.0),
}
tables = []
for name, (arms, observe) in worlds.items():
    problem = ArmedBandit(arms, reward="bernoulli")
    study = Study(
        problem, Uniform(observe), UCB(), horizon=20_000, replications=100, baseline=False
    )
    regret = simulate(study).data["regret"].mean("replication").squeeze(drop=True)
    tables.append(regret.to_dataframe().reset_index().assign(world=name))

names = list(worlds)
chart = styled(
    alt.Chart(pd.concat(tables))
    .mark_line()
    .encode(
        x=alt.X("checkpoint:Q", title="round"),
        y=alt.Y("regret:Q", title="regret"),
        color=alt.Color("world:N", sort=names),
        strokeDash=alt.StrokeDash("world:N", sort=names, legend=None),
    )
)
chart.save("plot_arm_splitting.svg")
