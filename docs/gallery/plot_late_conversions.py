"""# A late conversion is not a missing one

Three offers convert at 20%, 15% and 10%, only conversions are reported, and after 300 rounds
without one an offer counts as declined. Half of the best offer's conversions take over 200 rounds,
half of the others' over 10. *No answer = 0* estimates the rate times the share that arrives in
time: 12%, 15% and 10%. It prefers the second offer, and regret grows linearly, as it does with a
correction by one delay law for all offers. With each offer's own delay law, the corrected index
finds the best one.

If all offers have the same delay law (left), the mistake is harmless: it shrinks all rates equally.
"""

import altair as alt

from halfseen import ArmedBandit, ConversionUCB, Delayed, Fixed, LogNormalDelay, Study, simulate
from halfseen.report import styled

quick, slow, middle = (LogNormalDelay(median, 1.5) for median in (10, 200, 30))
study = Study(
    problems=ArmedBandit([0.2, 0.15, 0.1], reward="bernoulli"),
    censorships={
        "one law for all offers": Delayed(middle, window=300, sends="conversions"),
        "best offer slow": Delayed([slow, quick, quick], window=300, sends="conversions"),
    },
    policies={
        "no answer = 0": ConversionUCB(Fixed(0), bound="hoeffding"),
        "corrected, one law": ConversionUCB(middle),
        "corrected, laws known": ConversionUCB(),
    },
    horizon=10_000,
    replications=40,
    checkpoints=60,
    baseline=False,
)
regret = simulate(study).data["regret"].squeeze("problem", drop=True).mean("replication")
table = regret.to_dataframe().reset_index()

lines = (
    alt.Chart(table)
    .mark_line()
    .encode(
        x=alt.X("checkpoint:Q", title="round").axis(format="~s", tickCount=5),
        y=alt.Y("regret:Q", title="conversions lost"),
        color=alt.Color("policy:N", sort=list(study.policies)).legend(columns=3, labelLimit=300),
    )
    .properties(width=260, height=230)
)
columns = alt.Column("censorship:N", title=None, sort=list(study.censorships))
chart = styled(lines.encode(column=columns))
chart.save("plot_late_conversions.svg")
