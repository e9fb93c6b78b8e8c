"""# A live agent with late and missing feedback

An agent decides 5,000 times between three arms. Seven outcomes in ten arrive, immediately or 500
decisions later; the rest never do. UCB changes its choice only when an outcome arrives. With a
delay it therefore plays one arm for 500 decisions, then the next, then the third, which explains
the steps. Thompson sampling randomizes its choices and tries all arms while it waits.
"""

import altair as alt
import numpy as np

from halfseen import UCB, Agent, BernoulliThompson
from halfseen.report import styled

means, rounds, runs = np.array([0.3, 0.5, 0.7]), 5_000, 10


def regret(policy, delay):
    """Return the regret after each decision, averaged over runs."""
    lost = np.zeros((runs, rounds))
    for run in range(runs):
        world = np.random.default_rng(run)
        rewards = (world.random((rounds, 3)) < means).astype(float)
        comes_back = world.random(rounds) < 0.7
        agent = Agent(policy, 3, horizon=rounds, reward="bernoulli", seed=run)
        decisions = []
        for now in range(rounds):
            decisions.append(agent.choose())
            lost[run, now] = means.max() - means[decisions[now].arm]
            due = now - delay
            if due >= 0 and comes_back[due]:
                agent.observe(decisions[due], rewards[due, decisions[due].arm])
            elif due >= 0:
                agent.miss(decisions[due])
    return lost.cumsum(axis=1).mean(axis=0)


delays = {0: "at once", 500: "500 later"}
policies = {"UCB": UCB(), "Thompson": BernoulliThompson()}
rows = []
for name, policy in policies.items():
    for delay, words in delays.items():
        curve = regret(policy, delay)
        rows += [
            {"round": t, "regret": curve[t - 1], "curve": f"{name}, {words}"}
            for t in range(25, rounds + 1, 25)
        ]

chart = styled(
    alt.Chart(alt.Data(values=rows))
    .mark_line()
    .encode(
        x=alt.X("round:Q", title="decision"),
        y=alt.Y("regret:Q", title="regret"),
        color=alt.Color("curve:N", sort=None).legend(columns=2, labelLimit=300),
    )
)
chart.save("plot_late_feedback.svg")
