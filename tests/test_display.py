"""Every object a user meets shows itself in a line and, in a notebook, in a small block."""

import math
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pytest

import halfseen
from halfseen import (
    UCB,
    VIDS,
    Agent,
    AnyFunction,
    ArmedBandit,
    FiniteActions,
    InvalidInput,
    LinearAgent,
    LinearBandit,
    LinUCB,
    MultiThreshold,
    PerAction,
    PerArm,
    Policy,
    Study,
    Uniform,
    simulate,
    theory,
)
from halfseen.display import Shown, Tabular, block, first_sentence
from halfseen.logs.missing_bounds import MeanBounds
from halfseen.tables import Table

BI_REGION = MultiThreshold([math.pi / 3], [1.0, 0.75], [0, 0, 1])
ARMS, SEEN = ArmedBandit([0.5, 0.4, 0.3], noise=0.5), PerArm([0.3, 0.9, 0.1])
LOG = {
    "arm": ["a", "b", "<i>c"] * 40,
    "reward": [1.0, None, 0.0, 0.0, 1.0, None, 1.0, 1.0, None, 1.0] * 12,
}


def parts_of_a_study():
    many = np.linspace(0.1, 0.9, 1000)
    actions = FiniteActions(np.eye(40))
    yield from (UCB(), VIDS(), ArmedBandit(many), LinearBandit(np.eye(40)[0], actions=actions))
    yield from (actions, PerAction(many), PerArm(many), Uniform(0.5), BI_REGION)
    yield AnyFunction(math.sin)


@pytest.fixture(scope="module")
def found():
    log = halfseen.audit(LOG, action="arm", reward="reward")
    study = Study(ARMS, SEEN, UCB(), horizon=50, replications=3)
    result = simulate(study, engine="reference")
    agent, linear = Agent(UCB(), arms=3), LinearAgent(LinUCB(), dimension=2)
    plan = log.plan(100, days=10, futures=5)
    rng = np.random.default_rng(1)
    features = rng.normal(size=(400, 2))
    seen = rng.random(400) < np.where(features[:, 0] > 0, 0.2, 0.9)
    return {
        "study": study,
        "result": result,
        "sweep": halfseen.sweep(study, "censorships.*.observe.0", [0.3, 0.6], engine="reference"),
        "audit": log,
        "segments": halfseen.audit_by(
            LOG | {"g": ["x", "y"] * 60}, "g", action="arm", reward="reward"
        ),
        "plan": plan,
        "forecast": plan.yours,
        "invest": log.invest(1.0, 1.0),
        "bounds of means": log.bounds(),
        "best": log.best,
        "direction": halfseen.fit_direction(features, seen),
        "agent": agent,
        "linear agent": linear,
        "winner": agent.winner(),
        "regret bounds": theory.regret_bounds(ARMS, SEEN, UCB(), 10_000),
        "slope": theory.asymptotic_lower_bound(ARMS, SEEN),
        "finite": theory.finite_lower_bound(ARMS, SEEN, 10_000, 100),
        "minimax": theory.minimax_lower_bound([0.3, 0.9, 0.1], 10_000),
        "lower bounds": theory.lower_bounds(ARMS, SEEN, 10_000, 100),
        "identification": theory.identification_time(ARMS, SEEN),
        "path": theory.information_path(BI_REGION),
        "dimension": theory.dimension_by_arm([0.5, 0.1]),
        "water": theory.water_filling([0.5, 0.9], 10.0, 1.0, 1.0),
        "worst": theory.worst_case_potential(BI_REGION, horizon=1000.0),
    }


class Balanced(HTMLParser):
    """Fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("noun", list(parts_of_a_study()), ids=lambda noun: type(noun).__name__)
def test_a_part_of_a_study_is_one_short_line_and_a_table_of_its_parameters(noun):
    line = repr(noun)
    assert line.startswith(f"{type(noun).__name__}(")
    assert "\n" not in line
    assert len(line) < 300
    Balanced(noun._repr_html_())
    assert "<strong>" in noun._repr_html_()


def test_short_parameters_are_written_so_that_they_can_be_pasted():
    assert repr(SEEN) == "PerArm(observe=(0.3, 0.9, 0.1))"
    assert eval(repr(BI_REGION)) == BI_REGION
    assert eval(repr(PerArm([0.5]))) == PerArm([0.5])


def test_results_are_one_line_with_four_digits(found):
    for name, thing in found.items():
        line = repr(thing)
        assert line.startswith(f"<{type(thing).__name__}: "), name
        assert "\n" not in line
        assert len(line) < 200, name
        assert "array(" not in line
        Balanced(thing._repr_html_())
    assert repr(found["dimension"]) == (
        "<DimensionByArm: effective dimension 12 of 2 arms, a factor of 6>"
    )
    assert repr(found["study"]) == (
        "<Study: 1 problem x 2 censorships x 1 policy, 3 replications of 50 rounds, seed 0>"
    )
    assert repr(found["water"]) == (
        "<WaterFilling: level 4.214, allocation (6.429, 3.571), value 4.475>"
    )


def test_names_from_logs_are_escaped(found):
    assert "<i>" not in found["audit"]._repr_html_()
    assert "&lt;i&gt;c" in found["audit"]._repr_html_()


def test_a_voided_audit_shows_the_warning_and_no_numbers_to_trust():
    rows = {"arm": ["a", "b"] * 200, "reward": [1.0, None] * 200}
    log = halfseen.audit(rows, action="arm", reward="reward")
    assert log.voided
    assert repr(log).startswith("<Audit: void until a warning is resolved; ")
    assert "Every reward in this log is 1." in log._repr_html_()
    assert "<table>" not in log._repr_html_()


def test_an_agent_counts_what_was_settled_and_seen_of_each_arm():
    agent = Agent(UCB(), arms=2)
    for reward in (1.0, None, None, 0.5, None):
        agent.observe(agent.choose(), reward)
    agent.choose()
    rows = agent.estimates().records()
    assert sum(row["settled"] for row in rows) == 5
    assert sum(row["observed"] for row in rows) == 2
    assert "6 decisions, 2 observed, 1 pending" in repr(agent)
    unseen = Agent(UCB(), arms=1).estimates().records()[0]
    assert (unseen["settled"], unseen["observed"], unseen["seen"], unseen["mean"]) == (
        0,
        0,
        None,
        None,
    )


def test_long_tables_are_cut_and_say_so():
    long = Table(("n",), tuple((i,) for i in range(200)))
    assert repr(long).endswith("... and 140 more rows")
    assert long._repr_html_().count("<tr>") == 61
    assert "and 140 more rows" in long._repr_html_()
    assert len(str(long).splitlines()) == 202
    assert "more row" not in repr(Table(("n",), ((1,),)))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("result", ()),
        ("result", ("corridor",)),
        ("sweep", ()),
        ("audit", ()),
        ("audit", ("worth",)),
        ("audit", ("differ",)),
        ("plan", ()),
        ("direction", ()),
        ("regret bounds", ()),
        ("path", ()),
    ],
)
def test_plot_returns_a_chart_with_its_data_inside(found, name, arguments):
    spec = found[name].plot(*arguments).to_dict()
    assert spec["config"]["font"].startswith("system-ui")
    text = str(spec)
    assert "'values': [{" in text or "'datasets'" in text
    assert "'url'" not in text


@pytest.mark.slow
def test_plot_of_a_window_marks_the_best_wait():
    rng = np.random.default_rng(3)
    times = np.arange(600.0)
    log = {
        "arm": rng.choice(["a", "b"], 600).tolist(),
        "reward": rng.random(600).round().tolist(),
        "time": times.tolist(),
        "back": (times + rng.exponential(20.0, 600)).tolist(),
    }
    columns = {"action": "arm", "time": "time", "feedback_time": "back", "reward": "reward"}
    window = halfseen.feedback_window(log, learns="on-arrival", futures=3, **columns)
    Balanced(window._repr_html_())
    rows = str(window.plot().to_dict())
    assert ("'is': 'best'" in rows) is (window.best is not None)


def test_a_chart_that_an_audit_does_not_have_names_what_it_needs(found):
    with pytest.raises(halfseen.InvalidInput, match=r"`what` must be a chart this log has.*times"):
        found["audit"].plot("time")
    with pytest.raises(halfseen.InvalidInput, match="Did you mean 'rates'"):
        found["audit"].plot("rate")


@pytest.mark.slow
def test_a_corridor_of_several_problems_asks_for_one():
    problems = {"easy": ArmedBandit([0.9, 0.1]), "hard": ArmedBandit([0.5, 0.4])}
    study = Study(problems, Uniform(0.5), UCB(), horizon=50, replications=2)
    result = simulate(study, engine="reference")
    with pytest.raises(halfseen.InvalidInput, match=r"`problem` must be named.*easy, hard"):
        result.plot("corridor")
    assert result.plot("corridor", "hard").to_dict()["title"]["text"].startswith("Between")
    assert "easy" not in str(result.plot(problem="hard").to_dict())


def test_a_policy_that_is_no_dataclass_can_still_be_written():
    class Bare(Policy):
        def table(self, setting):
            return np.zeros((1, 1))

    assert "Bare object" in repr(Bare())


def test_markup_of_docstrings_is_not_shown():
    assert first_sentence("Play `UCB`, as :math:`t\\to 1`.\n\nMore.") == "Play UCB, as $t\\to 1$."


def test_a_dataclass_without_words_of_its_own_shows_its_fields():
    @dataclass(frozen=True, repr=False)
    class Found(Shown):
        value: float
        table: object
        by: dict

    thing = Found(0.123456, np.zeros((2, 3)), {"a": 1.5})
    assert repr(thing) == "<Found: value 0.1235, table array of 2 x 3, by {a: 1.5}>"


def test_what_one_table_says_is_a_data_frame_and_one_picture_a_chart():
    arms, seen = ArmedBandit([0.6, 0.5, 0.3]), PerArm([0.3, 0.9, 0.1])
    money = halfseen.invest([0.1, 0.5], cost=100.0, budget=20.0, names=["a", "b"])
    ends = (np.array([0.2, 0.1]), np.array([0.5, 0.9]), np.zeros(2), np.zeros(2))
    means = MeanBounds(2.0, ("a", "b"), *ends)
    bounds = halfseen.theory.regret_bounds(arms, seen, UCB(), 1000)
    lower = halfseen.theory.lower_bounds(arms, seen, 10_000, 500.0)
    dimension = halfseen.theory.dimension_by_arm([0.3, 0.9])
    log = {"a": [*"xyxyxy"], "r": [1.0, None, 0.0, 1.0, None, None], "land": [*"ppqqnn"]}
    segments = halfseen.audit_by(log, "land", action="a", reward="r")
    for found, rows in (
        (money, money.arms),
        (means, means.table),
        (bounds, bounds.table()),
        (lower, lower.table()),
        (dimension, dimension.table()),
        (segments, segments.table),
    ):
        assert found.to_latex() == rows.to_latex()
        assert found.to_pandas().equals(rows.to_pandas())
        assert found.to_polars().equals(rows.to_polars())
        assert found.plot().to_dict()["$schema"]
    tied = halfseen.theory.lower_bounds(ArmedBandit([0.5, 0.5]), PerArm([0.3, 0.9]), 100, 50.0)
    with pytest.raises(InvalidInput, match=r"needs a least slope .* must have one best arm"):
        tied.plot()


def test_the_chart_of_segments_leaves_out_those_never_seen():
    log = {"a": [*"xyxyxy"], "r": [1.0, None, 0.0, 1.0, None, None], "land": [*"ppqqnn"]}
    chart = halfseen.audit_by(log, "land", action="a", reward="r").plot().to_dict()
    (drawn,) = chart["datasets"].values()
    assert {row["name"] for row in drawn} == {"(all)", "p", "q"}


def test_a_dataset_shows_its_rows_and_what_they_mean():
    data = halfseen.datasets.load_demo()
    assert repr(data) == "<Dataset: 2,400 rows of sent, offer, sold, known>"
    shown = data._repr_html_()
    assert "synthetic log" in shown
    assert "feedback_time" in shown


def test_every_object_with_a_table_gives_it_as_a_data_frame():
    study = Study(ArmedBandit([0.6, 0.5]), PerArm([0.3, 0.9]), UCB(), horizon=50, replications=2)
    result = simulate(study, engine="reference")
    swept = halfseen.sweep(study, "horizon", [20, 40], engine="reference")
    assert len(result.to_pandas()) == len(result.summary())
    assert len(swept.to_pandas()) == len(swept.summary())
    kinds = (halfseen.Audit, halfseen.Plan, halfseen.PolicyValue, halfseen.Summary, halfseen.Window)
    assert all(issubclass(kind, Tabular) for kind in kinds)


def test_a_policy_says_what_it_does_and_one_of_your_own_by_its_docstring():
    @dataclass(frozen=True)
    class Bold(UCB):
        """Plays what `UCB` would, twice as boldly.

        More.
        """

    assert UCB().in_words().startswith("Plays the arm with the largest upper confidence bound")
    assert Bold().in_words() == "Plays what UCB would, twice as boldly."
    assert "twice as boldly" in Bold()._repr_html_()


def test_dollars_of_a_log_are_no_formulas_in_a_notebook_but_those_of_docstrings_are():
    found = block("Audit", "$5 or $10", ["from $5 to $10", Table(("arm",), (("$5",), ("$10",)))])
    assert found.startswith('<div class="tex2jax_ignore mathjax_ignore"><p><strong>Audit')
    assert '<table class="tex2jax_ignore mathjax_ignore">' in found
    head, _, rest = halfseen.EpsilonGreedy()._repr_html_().partition("</div>")
    assert "ignore" not in head
    assert '<div class="tex2jax_ignore mathjax_ignore">' in rest
