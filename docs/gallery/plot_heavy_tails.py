"""# Heavy tails: where UCB fails and RobustUCB does not

Two arms that pay 2 and -2 on average, with Student t noise of 1.6 degrees of freedom: outliers are
common and the variance is infinite. The good arm is observed one time in ten. Each thin line is one
of 100 runs of 300,000 rounds, each thick one their mean.

UCB uses the mean of the observed rewards. In two of these runs a large loss among the first rewards
of the good arm makes it look bad, and UCB never returns to it: regret grows linearly. RobustUCB
truncates rewards that are too large for their number, and assumes only a bound on the moment of
order 1.5. It explores for far longer, but none of its runs fails.
"""

import altair as alt

from halfseen import UCB, ArmedBandit, PerArm, RobustUCB, StudentT, Study, simulate
from halfseen.report import styled

law = StudentT(degrees=1.6)
study = Study(
    problems=ArmedBandit([2.0, -2.0], noise=1.0, reward=law),
    censorships=PerArm([0.1, 1.0]),
    policies={"UCB": UCB(), "RobustUCB": RobustUCB(order=0.5, moment=law.moment(1.5))},
    horizon=300_000,
    replications=100,
    checkpoints=24,
    baseline=False,
)
regret = simulate(study).data["regret"].squeeze(["problem", "censorship"], drop=True)
table = regret.to_dataframe().reset_index().query("checkpoint >= 10")
mean = table.groupby(["policy", "checkpoint"], as_index=False)["regret"].mean()

base = alt.Chart().encode(
    x=alt.X("checkpoint:Q", title="round")
    .scale(type="log", domain=[10, 300_000], nice=False)
    .axis(values=[10, 100, 1_000, 10_000, 100_000]),
    y=alt.Y("regret:Q", title="regret").scale(type="log", domain=[1, 2e6], clamp=True),
    color=alt.Color("policy:N", sort=list(study.policies)),
)
runs = base.properties(data=table).mark_line(opacity=0.25, strokeWidth=0.7)
chart = styled(
    (
        runs.encode(detail="replication:N") + base.properties(data=mean).mark_line(strokeWidth=3)
    ).properties(width=480, height=300)
)
chart.save("plot_heavy_tails.svg")
