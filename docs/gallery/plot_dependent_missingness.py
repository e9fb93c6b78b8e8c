"""# When satisfied users respond more often

Most results of this library assume that, given the arm, whether a reward is observed does not
depend on its value. Here it does: satisfied users respond one, two or five times as often as the
others. The mean of the responses is then biased (lines: the limit, dots: 20,000 users each), more
data do not help, and arms that satisfy few users look nearly as good as those that satisfy many.
"""

import altair as alt
import numpy as np

from halfseen.report import styled

world = np.random.default_rng(0)
rows, dots = [], []
for times in (1, 2, 5):
    name = "as often" if times == 1 else f"{times} times as often"
    for truth in np.linspace(0, 1, 51).tolist():
        limit = truth * times / (truth * times + 1 - truth)
        rows.append({"truth": truth, "estimate": limit, "answer": name})
    for truth in (0.1, 0.3, 0.5, 0.7, 0.9):
        rewards = world.random(20_000) < truth
        answered = world.random(20_000) < np.where(rewards, 0.8, 0.8 / times)
        mean = float(rewards[answered].mean())
        dots.append({"truth": truth, "estimate": mean, "answer": name})

base = alt.Chart(alt.Data(values=rows)).encode(
    x=alt.X("truth:Q", title="true mean"),
    y=alt.Y("estimate:Q", title="mean of the answers"),
    color=alt.Color("answer:N", sort=["as often"]),
)
points = base.properties(data=alt.Data(values=dots)).mark_point(filled=True, size=45)
chart = styled(base.mark_line() + points)
chart.save("plot_dependent_missingness.svg")
