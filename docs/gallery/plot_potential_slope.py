"""# The potential of LinUCB and its law

On the unit ball the potential V of order 1 of LinUCB grows like log T. Its slope is close to
(d + 1) / (2 p), with p the probability of being observed at the best action: an empirical law, not
a theorem. Dashed lines have exactly that slope and end where the measurement does; at p = 0.2 the
curve has not converged yet.
"""

import altair as alt
import numpy as np

from halfseen import LinearBandit, LinUCB, Study, Uniform, simulate, theory
from halfseen.report import styled

worlds = {"all seen": 1.0, "half seen": 0.5, "one in five": 0.2}
study = Study(
    LinearBandit([0.8, 0.4, 0.2], noise=0.3),
    {name: Uniform(p) for name, p in worlds.items()},
    LinUCB(),
    horizon=20_000,
    replications=20,
)
potential = simulate(study).data["potential"].squeeze(["problem", "policy", "alpha"], drop=True)
table = potential.mean("replication").to_dataframe().reset_index()
table = table[table["checkpoint"] >= 10]

law = []
for name, p in worlds.items():
    last = table[table["censorship"] == name].iloc[-1]
    slope = theory.expected_slope("sphere", p, dimension=3)
    for time in (500, 20_000):
        fallen = slope * np.log(last["checkpoint"] / time)
        law.append({"censorship": name, "round": time, "value": last["potential"] - fallen})

colour = alt.Color("censorship:N", sort=list(worlds))
measured = (
    alt.Chart(table)
    .mark_line()
    .encode(
        x=alt.X("checkpoint:Q", title="round")
        .scale(type="log", nice=False)
        .axis(values=[10, 100, 1000, 10_000]),
        y=alt.Y("potential:Q", title="potential of order 1"),
        color=colour,
    )
)
lines = alt.Chart(alt.Data(values=law)).mark_line(strokeDash=[5, 4], color="#1c2329", size=1.5)
chart = styled(measured + lines.encode(x="round:Q", y="value:Q", detail="censorship:N"))
chart.save("plot_potential_slope.svg")
