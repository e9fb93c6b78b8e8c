"""# Each remedy works only under its own assumptions

Two arms pay 1 with probability 0.6 and 0.5, and feedback is missing in five ways: at random,
depending on a covariate that is always observed, depending on the reward with a proxy of it
available, and depending on the reward without a proxy, with the best or the worst arm rarely
observed. The number is the regret after 20,000 rounds as a share of that of always playing the
wrong arm. No column is light throughout: a remedy for one mechanism fails under another, and the
data do not reveal which mechanism applies.
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
    [[0.875, 0.125], [0.25, 0.75]],  # law of the covariate, given a reward of 0 and of 1
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
