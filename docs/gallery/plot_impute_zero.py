"""# The cost of imputing 0 for missing rewards

Two arms that pay 0.6 and 0.5, and UCB1 for 100,000 rounds. *Skip* learns from observed rewards
only. *Impute zero* replaces missing rewards by 0, like a default reward after a timeout. It then
learns the mean times the probability of being observed, and prefers the arm that *responds* most.

When the good arm responds less often, regret grows linearly: about 60 times that of skipping here.
When it responds more often, the mistake happens to help. A log does not reveal which case applies.
"""

import altair as alt

from halfseen import UCB1, ArmedBandit, ImputeZero, PerArm, Study, simulate
from halfseen.report import styled

worlds = {
    "100%, 100%": [1.0, 1.0],
    "34%, 87%": [0.34, 0.87],
    "87%, 34%": [0.87, 0.34],
    "5%, 5%": [0.05, 0.05],
}
study = Study(
    problems=ArmedBandit([0.6, 0.5], reward="bernoulli"),
    censorships={name: PerArm(observe) for name, observe in worlds.items()},
    policies={"skip": UCB1(), "impute zero": ImputeZero(UCB1())},
    horizon=100_000,
    replications=60,
    checkpoints=1,
)
regret = simulate(study).data["regret"].squeeze(["problem", "checkpoint"], drop=True)
table = regret.mean("replication").to_dataframe().reset_index()

base = alt.Chart(table).encode(
    x=alt.X("regret:Q", title="regret after 100,000 rounds")
    .scale(type="log", domain=[10, 3e4])
    .axis(values=[10, 100, 1000, 10_000]),
    y=alt.Y("censorship:N", title="good arm and other arm seen", sort=list(worlds)).axis(
        titlePadding=24
    ),
    yOffset=alt.YOffset("policy:N", sort=list(study.policies)),
)
bars = base.mark_bar().encode(x2=alt.datum(10), color=alt.Color("policy:N", sort=["skip"]))
numbers = base.mark_text(align="left", dx=4).encode(text=alt.Text("regret:Q", format=",.0f"))
chart = styled((bars + numbers).properties(width=370, height=230))
chart.save("plot_impute_zero.svg")
