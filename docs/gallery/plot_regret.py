"""# Regret with and without censorship

Five offers, 20,000 rounds, and UCB, which learns only from observed outcomes. The fewer it
observes, the longer it plays inferior offers. With one outcome in five observed, regret is about
2.7 times as large after 20,000 rounds; in the very long run it would be five times as large.

The band is Student's 95% interval of the mean over 100 replications.
"""

import altair as alt
from scipy import stats

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.report import styled

study = Study(
    problems=ArmedBandit([0.6, 0.55, 0.5, 0.4, 0.3], reward="bernoulli"),
    censorships={
        "everything seen": Uniform(1.0),
        "every second": Uniform(0.5),
        "one in five": Uniform(0.2),
    },
    policies=UCB(),
    horizon=20_000,
    replications=100,
)
regret = simulate(study).data["regret"].squeeze(["problem", "policy"], drop=True)
table = regret.mean("replication").to_dataframe().reset_index()
error = regret.std("replication", ddof=1) / study.replications**0.5
half = error * stats.t.ppf(0.975, study.replications - 1)
table["half"] = half.to_dataframe()["regret"].to_numpy()

base = alt.Chart(table).encode(
    x=alt.X("checkpoint:Q", title="round"),
    color=alt.Color("censorship:N", sort=list(study.censorships)),
)
line = base.mark_line().encode(y=alt.Y("regret:Q", title="regret"))
band = (
    base.transform_calculate(low="datum.regret - datum.half", high="datum.regret + datum.half")
    .mark_area(opacity=0.2)
    .encode(y="low:Q", y2="high:Q")
)
chart = styled(band + line)
chart.save("plot_regret.svg")
