"""# Each remedy works in its own world only

Two arms pay 1 with probability 0.6 and 0.5, and feedback goes missing in five ways: at random, by a
covariate that is always seen, by the reward itself with a proxy of it at hand, and by the reward
with nothing at hand. The number is the share of what always playing the wrong arm would lose in
20,000 rounds. No column is light throughout: what saves one world ruins another, and nothing in the
data tells which world it is.
"""

import altair as alt

from halfseen import (
    ArmedBandit,
    GammaUCB,
    HoeffdingUCB,
    ProxyUCB,
    RewardDependent,
    StratifiedUCB,
    Study,
    WithCovariate,
    simulate,
)
from halfseen.report import styled

cause, nothing, proxy = (
    [[0.875, 0.125], [0.25, 0.75]],  # of the covariate, given a reward of 0 and of 1
    [[0.5, 0.5], [0.5, 0.5]],
    [[0.8, 0.2], [0.2, 0.8]],
)
worlds = {
    "at random": WithCovariate([proxy, proxy], [0.5, 0.5]),
    "by the covariate": WithCovariate([cause, nothing], [[0.8, 0.2], 0.5]),
    "by the reward, with a proxy": WithCovariate([proxy, proxy], [[[0.8, 0.3]] * 2, 0.5]),
    "best arm rarely seen": RewardDependent([{0: 0.3, 1: 0.15}, 0.9]),
    "worst arm rarely seen": RewardDependent([0.9, {0: 0.15, 1: 0.3}]),
}
policies = {
    "UCB": HoeffdingUCB(),
    "strata": StratifiedUCB(),
    "proxy": ProxyUCB(),
    "gamma, upper": GammaUCB(2.5),
    "gamma, lower": GammaUCB(2.5, objective="lower"),
}
problem = ArmedBandit([0.6, 0.5], reward="bernoulli")
study = Study(problem, worlds, policies, horizon=20_000, replications=20, baseline=False)
regret = simulate(study).data.regret.values[0, ..., -1].mean(axis=-1)

rows = [
    {"world": world, "policy": policy, "lost": float(regret[i, k]) / 2_000}
    for i, world in enumerate(worlds)
    for k, policy in enumerate(policies)
]
base = alt.Chart(alt.Data(values=rows), width=480, height=240).encode(
    x=alt.X("policy:N", sort=list(policies), title=None, axis=alt.Axis(labelAngle=0, orient="top")),
    y=alt.Y("world:N", sort=list(worlds), title=None, axis=alt.Axis(labelLimit=240)),
)
shade = alt.Color("lost:Q", scale=alt.Scale(scheme="oranges", domain=[0, 1]), legend=None)
ink = alt.condition("datum.lost > 0.6", alt.value("white"), alt.value("black"))
words = base.mark_text().encode(text=alt.Text("lost:Q", format=".0%"), color=ink)
chart = styled(base.mark_rect(stroke="white").encode(color=shade) + words)
chart.save("plot_missing_worlds.svg")
