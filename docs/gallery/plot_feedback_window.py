"""# How long to wait for feedback depends on the learner

Four arms, and rewards that take 50 rounds on average, for 10,000 rounds. Rewards that take longer
than the window are lost. The *eager* learner uses a reward as soon as it arrives: a longer window
only adds information, so it should be as long as memory allows. The *waiting* learner uses
decisions only once their window has passed, like a nightly job that trains on complete rows: a
short window loses most rewards, a long one delays learning. Its best window lies in between.
"""

import altair as alt

from halfseen import ArmedBandit, Delayed, Fixed, GeometricDelay, HoeffdingUCB, Study, simulate
from halfseen.report import styled

law = GeometricDelay(50)
windows = [5, 10, 20, 50, 100, 200, 500, 1000, 2000]
eager = {f"eager {m}": Delayed(law, window=m) for m in windows}
waiting = {f"waiting {m}": Delayed(Fixed(m, arrive=law.arrived_by(m)), window=m) for m in windows}
study = Study(
    problems=ArmedBandit([0.5, 0.45, 0.4, 0.3], reward="bernoulli"),
    censorships=eager | waiting,
    policies=HoeffdingUCB(),
    horizon=10_000,
    replications=60,
    checkpoints=1,
    baseline=False,
)
regret = simulate(study).data["regret"].squeeze(drop=True).mean("replication").to_series()
rows = [
    {"window": int(name.split()[1]), "learner": name.split()[0], "regret": value}
    for name, value in regret.items()
]

lines = (
    alt.Chart(alt.Data(values=rows))
    .mark_line(point=True)
    .encode(
        x=alt.X("window:Q", title="window (rounds)")
        .scale(type="log", domain=[4, 2500])
        .axis(values=windows, format=",d"),
        y=alt.Y("regret:Q", title="regret after 10,000 rounds"),
        color=alt.Color("learner:N", sort=["eager", "waiting"]),
    )
)
chart = styled(lines.properties(width=460, height=260))
chart.save("plot_feedback_window.svg")
