"""# The gain from adaptivity

The largest potential of a policy that sees which rewards are missing exceeds that of a plan fixed
before the first round. The difference of their expected values, times the horizon to the power
alpha, tends to a constant that depends only on the probabilities. Dots are exact values; lines are
the constant. The advantage vanishes as the horizon grows: the worst case hardly needs adaptivity.
"""

import altair as alt
import numpy as np

from halfseen import theory
from halfseen.report import styled

observe = [0.1, 0.5, 0.9]
rows, limits = [], []
for alpha in (0.5, 1.0):
    name = f"order {alpha:g}"
    limits.append({"limit": theory.adaptivity_constant(observe, alpha), "order": name})
    for horizon in np.geomspace(20, 5000, 16).astype(int).tolist():
        adaptive = theory.adaptive_potential(observe, horizon, alpha, 1.0)
        offline = theory.offline_potential(observe, horizon, alpha, 1.0).value
        gain = (adaptive - offline) * horizon**alpha
        rows.append({"horizon": horizon, "gain": gain, "order": name})

dots = (
    alt.Chart(alt.Data(values=rows))
    .mark_point(filled=True, size=40)
    .encode(
        x=alt.X("horizon:Q", title="horizon T")
        .scale(type="log", nice=False)
        .axis(values=[20, 100, 500, 2000]),
        y=alt.Y("gain:Q", title="(adaptive - offline) times T^alpha"),
        color="order:N",
    )
)
rules = alt.Chart(alt.Data(values=limits)).mark_rule(strokeDash=[5, 3])
chart = styled(dots + rules.encode(y="limit:Q", color="order:N"))
chart.save("plot_adaptivity.svg")
