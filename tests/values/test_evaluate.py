"""The value of a policy from a log: numbers, targets and what is refused."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from halfseen import InvalidInput, value
from values import golden_log as log
from values.golden_log import EXACT

COLUMNS = {"action": "arm", "reward": "paid"}


def golden_rows(**more):
    """Return the twelve decisions as columns."""
    return {
        "arm": [f"a{k}" for k in log.ARM],
        "group": [f"x{k}" for k in log.X],
        "paid": log.REWARD,
        "chance": log.LOGGING[log.X, log.ARM],
        "pi": log.TARGET[log.X, log.ARM],
        "p": log.SEEN[log.X, log.ARM],
    } | more


def by_context(table):
    return {f"x{x}": {f"a{a}": table[x, a] for a in range(3)} for x in range(2)}


GOLDEN = COLUMNS | {"propensity": "chance", "context": "group"}


def estimates(found):
    return {one.name: one for one in found.alternatives}


@pytest.mark.parametrize("target", [by_context(log.TARGET), "pi"])
def test_twelve_decisions_with_known_probabilities_of_being_seen(target):
    found = value(golden_rows(), target=target, observe_column="p", **GOLDEN)
    by = estimates(found)
    assert by["IPW"].value == pytest.approx(0.303406084656, abs=EXACT)
    assert by["IPW"].standard_error == pytest.approx(0.204881539996, abs=EXACT)
    assert by["SNIPW"].value == pytest.approx(0.508592017738, abs=EXACT)
    assert by["SNIPW"].standard_error == pytest.approx(0.230819061797, abs=EXACT)
    assert found.diagnostics.effective_rows == pytest.approx(4.66389028218, abs=1e-10)


def test_twelve_decisions_seen_at_the_rates_of_their_arms():
    found = value(golden_rows(), target=by_context(log.TARGET), observe="arms", **GOLDEN)
    assert estimates(found)["IPW"].value == pytest.approx(0.278009259259, abs=EXACT)
    assert estimates(found)["IPW"].standard_error == pytest.approx(0.165300396810, abs=EXACT)
    assert estimates(found)["SNIPW"].value == pytest.approx(0.456306990881, abs=EXACT)


def weighted_expectile(reward, weight, gamma):
    """Return e with Gamma sum(w (R - e)+) = sum(w (e - R)+)."""

    def surplus(e):
        above, below = np.maximum(reward - e, 0.0), np.maximum(e - reward, 0.0)
        return weight @ (gamma * above - below)

    return brentq(surplus, reward.min() - 1.0, reward.max() + 1.0, xtol=1e-15)


def test_bounds_weigh_seen_rewards_as_the_policy_would():
    """In cells of arms, weights differ between the rows of a cell."""
    rows = golden_rows()
    found = value(rows, target="pi", **COLUMNS, propensity="chance")
    weight = np.array(rows["pi"]) / np.array(rows["chance"])
    weight /= weight.mean()
    seen = ~np.isnan(log.REWARD)
    for gamma in (1.0, 2.0, 5.0):
        bound, ends = found.bounds(gamma), []
        for tilt in (1.0 / gamma, gamma):
            total = weight[seen] @ log.REWARD[seen]
            for arm in range(3):
                mine = seen & (arm == log.ARM)
                e = weighted_expectile(log.REWARD[mine], weight[mine], tilt)
                total += weight[~seen & (arm == log.ARM)].sum() * e
            ends.append(total / 12)
        assert (bound.low, bound.high) == pytest.approx(ends, abs=1e-12)


def test_a_column_that_depends_on_more_than_the_arm_has_no_doubly_robust_estimate():
    assert value(golden_rows(), target="pi", **COLUMNS, propensity="chance").estimator == "SNIPW"
    with pytest.raises(InvalidInput, match="needs the policy's probabilities of all arms"):
        value(golden_rows(), target="pi", **COLUMNS, propensity="chance", estimator="DR")


def hidden_reason_log(rng, rows):
    """Return a log whose propensities follow a hidden number, and with it the rewards of A.

    Always A is worth .45; being seen depends on nothing.
    """
    u = rng.random(rows)
    chance = 0.1 + 0.8 * u
    plays = rng.random(rows) < chance
    reward = rng.random(rows) < np.where(plays, 0.2 + 0.5 * u, 0.3)
    return {
        "arm": np.where(plays, "A", "B"),
        "paid": np.where(rng.random(rows) < 0.4, reward, np.nan),
        "chance": np.where(plays, chance, 1.0 - chance),
    }


def test_bounds_hold_where_propensities_look_at_more_than_the_context():
    found = value(
        hidden_reason_log(np.random.default_rng(5), 40_000),
        target={"A": 1},
        propensity="chance",
        compare={"B": 1},
        **COLUMNS,
    )
    same, twice = found.bounds(1.0), found.bounds(1.2)
    assert abs(same.low - 0.45) < 3 * same.low_error < 0.03
    assert twice.low < 0.45 < twice.high
    apart = found.bounds(1.0, difference=True)
    assert abs(apart.low - 0.15) < 3 * apart.low_error < 0.05
    assert abs(apart.low - found.bounds(1.0).low + 0.3) < 0.02


@pytest.mark.slow
def test_errors_of_bounds_with_weights_that_differ_in_a_cell_are_those_of_many_logs():
    rng = np.random.default_rng(6)
    ends = []
    for _ in range(200):
        rows = hidden_reason_log(rng, 2000)
        found = value(rows, target={"A": 1}, propensity="chance", compare={"B": 1}, **COLUMNS)
        for apart in (False, True):
            one = found.bounds(2.0, difference=apart)
            ends.append((one.low, one.high, one.low_error, one.high_error))
    low, high, low_error, high_error = np.array(ends).reshape(200, 2, 4).transpose(2, 1, 0)
    for error, end in ((low_error, low), (high_error, high)):
        ratio = error.mean(axis=1) / end.std(axis=1)  # 5% per error
        assert ratio.min() > 0.85
        assert ratio.max() < 1.4  # dividing the weights by their mean makes the ends surer


def half_seen(rows=1000):
    """Return the log of the seen .2/.9: means .6/.4, exact counts."""
    columns = {"arm": [], "paid": []}
    for arm, rate, mean in (("a", 0.2, 0.6), ("b", 0.9, 0.4)):
        seen, ones = round(rows * rate), round(rows * rate * mean)
        columns["arm"] += [arm] * rows
        columns["paid"] += [1.0] * ones + [0.0] * (seen - ones) + [None] * (rows - seen)
    return columns


MIX = {"a": 0.7, "b": 0.3}


@pytest.mark.parametrize("estimator", ["DR", "SNDR", "IPW", "SNIPW", "DM"])
def test_missing_rewards_do_not_bias_the_value(estimator):
    rows = half_seen()
    found = value(rows, target=MIX, estimator=estimator, **COLUMNS)
    assert found.value == pytest.approx(0.54, abs=1e-12)
    seen = {
        name: [v for v, r in zip(rows[name], rows["paid"], strict=True) if r is not None]
        for name in rows
    }
    weight = np.where(np.array(seen["arm"]) == "a", 1.4, 0.6)
    assert np.mean(weight * seen["paid"]) == pytest.approx(0.192 / 0.55)  # without them


def test_the_difference_from_the_logging_policy_is_paired():
    found = value(half_seen(), target=MIX, **COLUMNS)
    assert found.compared.value == pytest.approx(0.5)
    assert found.difference.value == pytest.approx(0.04)
    assert found.difference.standard_error < found.standard_error
    rows = half_seen() | {"c": [0.5] * 2000}
    same = value(rows, target={"a": 0.5, "b": 0.5}, propensity="c", **COLUMNS)
    assert same.difference.value == pytest.approx(0.0, abs=1e-12)
    assert same.difference.standard_error == pytest.approx(0.0, abs=1e-12)
    alone = value(half_seen(), target=MIX, compare=None, **COLUMNS)
    assert alone.difference is None
    assert alone.tipping_gamma is None
    both = value(half_seen(), target={"a": 1}, compare={"b": 1}, **COLUMNS)
    assert both.difference.value == pytest.approx(0.2)
    assert both.verdict.startswith("It earns 0.2 a decision more than always b")


def test_efficient_variance_of_uniform_logging_is_the_effective_dimension():
    # sigma² sum 1/p over d constant policies: the audit's number is the price of evaluation.
    rows = {"arm": [], "paid": []}
    for arm, p in (("a", 0.25), ("b", 0.5), ("c", 1.0)):
        seen = round(4000 * p)
        rows["arm"] += [arm] * 4000
        rows["paid"] += [1.0, -1.0] * (seen // 2) + [None] * (4000 - seen)
    each = [value(rows, target={arm: 1}, **COLUMNS).standard_error ** 2 for arm in "abc"]
    assert np.mean(each) * 12_000 == pytest.approx(4 + 2 + 1, rel=1e-3)


def test_a_function_of_rows_a_table_and_a_column_say_the_same():
    rng = np.random.default_rng(4)
    n = 800
    group, arm = rng.integers(0, 2, n), rng.integers(0, 2, n)
    pi = np.array([[0.2, 0.8], [0.6, 0.4]])
    rows = {
        "arm": arm,
        "g": np.array(["u", "v"])[group],
        "x": group + 0.0,
        "paid": np.where(rng.random(n) < 0.7, rng.normal(size=n) + group * arm, np.nan),
        "pi": pi[group, arm],
    }
    table = {"u": {"0": 0.2, "1": 0.8}, "v": {"0": 0.6, "1": 0.4}}

    def rule(columns):
        first = np.where(columns["context"] == "u", 0.2, 0.6)
        return {"0": first, "1": 1.0 - first}

    options = COLUMNS | {"context": "g"}
    found = [value(rows, target=target, **options) for target in (table, rule, "pi")]
    assert [one.estimator for one in found] == ["DR"] * 3
    for one in found[1:]:
        assert one.value == pytest.approx(found[0].value, abs=1e-12)
        assert one.standard_error == pytest.approx(found[0].standard_error, abs=1e-12)
    by_row = value(
        rows,
        target=lambda columns: {"0": 0.2 + 0.4 * columns["x"], "1": 0.8 - 0.4 * columns["x"]},
        features=["x"],
        observe="cells",
        outcome="cells",
        **options,
    )
    assert by_row.value == pytest.approx(found[0].value, abs=1e-12)
    assert by_row.standard_error == pytest.approx(found[0].standard_error, abs=1e-12)


def drawn(n, seed):
    """Return a log whose rewards and whose chance of being seen depend on a feature."""
    rng = np.random.default_rng(seed)
    x, arm = rng.normal(size=n), rng.integers(0, 2, n)
    reward = 0.5 + 0.3 * x * arm + 0.2 * rng.normal(size=n)
    seen = rng.random(n) < 1 / (1 + np.exp(-0.3 - 1.2 * x))
    return {"arm": arm, "x": x, "paid": np.where(seen, reward, np.nan), "c": np.full(n, 0.5)}


@pytest.mark.parametrize(
    ("observe", "outcome"),
    [("logistic", "linear"), pytest.param("trees", "trees", marks=pytest.mark.slow)],
)
def test_regressions_on_features_remove_the_bias_of_seen_rows(observe, outcome):
    rows = drawn(1500, 5)
    options = COLUMNS | {"propensity": "c", "features": ["x"]}
    found = value(rows, target={"1": 1}, observe=observe, outcome=outcome, **options)
    assert found.low < 0.5 < found.high
    naive = value(rows, target={"1": 1}, **COLUMNS, propensity="c")
    assert naive.low > 0.55  # seen rows have larger x


def test_a_feature_must_not_have_the_name_of_the_contexts():
    rows = drawn(400, 5)
    options = COLUMNS | {"propensity": "c", "compare": {"0": 1}}
    with pytest.raises(InvalidInput, match="must not have the name under which a function gets"):
        value(
            rows | {"context": rows["x"]},
            target=lambda columns: {"0": 0.5, "1": 0.5},
            features=["context"],
            **options,
        )


def test_bootstrap_and_normal_intervals_agree_on_many_rows():
    one = value(half_seen(), target=MIX, **COLUMNS)
    two = value(half_seen(), target=MIX, interval="bootstrap", resamples=400, seed=1, **COLUMNS)
    assert two.value == one.value
    assert two.standard_error == pytest.approx(one.standard_error, rel=0.15)
    assert (two.low, two.high) == pytest.approx([one.low, one.high], abs=0.015)
    again = value(half_seen(), target=MIX, interval="bootstrap", resamples=400, seed=1, **COLUMNS)
    assert again.low == two.low


def test_estimators_that_rest_on_their_regression_have_no_normal_interval():
    found = value(half_seen(), target=MIX, threshold=2.0, **COLUMNS)
    by = estimates(found)
    for name in ("DM", "DRos", "clipped DR", "switch-DR"):
        assert math.isnan(by[name].standard_error)
    wide = value(half_seen(), target=MIX, threshold=100.0, **COLUMNS)
    assert estimates(wide)["clipped DR"].low == estimates(wide)["DR"].low


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_clipped_ipw_has_no_interval_and_no_verdict_where_it_clips(interval):
    options = COLUMNS | {"estimator": "clipped IPW", "interval": interval, "resamples": 20}
    found = value(half_seen(), target={"a": 1}, threshold=2.0, **options)  # W is 10
    assert found.value == pytest.approx(0.12)  # the truth is .6
    assert math.isnan(found.low)
    assert math.isnan(found.difference.low)
    assert "cannot tell which policy is better" in found.verdict
    assert math.isnan(estimates(found)["clipped IPW"].low)
    whole = value(half_seen(), target={"a": 1}, **options)
    assert whole.low < 0.6 < whole.high


def test_the_order_is_open_where_an_arm_showed_one_value_only():
    paid = [1] * 60 + [None] * 140 + [1] * 80 + [0] * 80 + [None] * 40
    rows = {"arm": ["a"] * 200 + ["b"] * 200, "paid": paid}
    found = value(rows, target={"a": 1}, compare={"b": 1}, **COLUMNS)
    assert found.tipping_gamma == math.inf
    worst = found.bounds(math.inf, difference=True)
    assert (worst.low, worst.high) == pytest.approx([-0.3, 0.6])
    assert found.turning.startswith("The order is open if missing rewards can be values that were")
    assert found.turning in found.verdict


def test_long_logs_of_real_rewards_are_counted_in_intervals(monkeypatch):
    rows = drawn(4000, 6)
    whole = value(rows, target={"1": 1}, **COLUMNS)
    monkeypatch.setattr("halfseen.logs.reward_cells.EXACT", 100)
    binned = value(rows, target={"1": 1}, **COLUMNS)
    assert binned.value == pytest.approx(whole.value, abs=1e-12)
    assert binned.standard_error == pytest.approx(whole.standard_error, rel=1e-12)
    assert binned.bounds(2.0).high == pytest.approx(whole.bounds(2.0).high, abs=1e-3)


def test_estimated_propensities_are_said():
    assert "no propensities" in value(half_seen(), target=MIX, **COLUMNS).warnings[0]
    rows = half_seen() | {"c": [0.5] * 2000}
    assert value(rows, target=MIX, **COLUMNS, propensity="c").warnings == ()


BAD = [
    ({"target": {"a": 0.7, "b": 0.2}}, r"sum to 1; got 'a sum of 0.9 over all arms'"),
    ({"target": {"a": 0.5, "z": 0.5}}, r"must play arms that the log has \(a, b\)"),
    ({"target": {"a": -0.1, "b": 1.1}}, r"`target\[a\]` must be a finite number"),
    ({"target": "third"}, r"got 'a sum of 0.666 over the arms played'. Give all digits"),
    ({"target": {}}, "must be a column, probabilities by arm"),
    ({"target": "nowhere"}, "`target` must be a column of the log"),
    ({"target": {"x": {"a": 1}}}, "must name every context of the log"),
    ({"target": lambda columns: [[1.0]]}, "must return 1 rows of probabilities, one per arm"),
    ({"target": "arm"}, "`target` must hold numbers.*2,000 other cells in column arm"),
    ({"target": MIX, "compare": "arm"}, "`compare` must hold numbers"),
    ({"target": MIX, "estimator": "Dr"}, "Did you mean 'DR'"),
    ({"target": MIX, "observe": "trees"}, "`observe` needs `features`"),
    ({"target": MIX, "observe": {"a": 0.2}}, "Add b."),
    ({"target": MIX, "propensity": "c"}, r"1,000 rows where it is 0, missing or no probability"),
    ({"target": MIX, "observe_column": "c"}, r"900 other cells in column c"),
]


@pytest.mark.parametrize(("options", "said"), BAD)
def test_what_cannot_be_evaluated_is_said_in_a_sentence(options, said):
    rows = half_seen() | {"c": [0.5] * 1000 + [0.0] * 1000, "third": [0.333] * 2000}
    with pytest.raises(InvalidInput, match=said):
        value(rows, **COLUMNS, **options)


def test_a_propensity_of_0_matters_only_where_the_policy_plays():
    rows = half_seen() | {"c": [0.5] * 1000 + [0.0] * 1000}
    found = value(rows, target={"a": 1}, compare=None, propensity="c", **COLUMNS)
    assert found.value == pytest.approx(0.6)


def test_where_nothing_was_seen_the_bound_that_still_holds_is_given():
    rows = {
        "arm": ["a"] * 40 + ["b"] * 20 + ["a"] * 20,
        "g": ["u"] * 60 + ["v"] * 20,
        "paid": [1.0, 0.0] * 20 + [1.0] * 20 + [0.0, None] * 10,
    }
    options = COLUMNS | {"context": "g"}
    with pytest.raises(InvalidInput, match=r"got 'arm b in v \(never played\)'") as error:
        value(rows, target=MIX, **options)
    # u: .7 * .5 + .3 = .65 of 3/4; v: .7 * 0 of 1/4, and .3 of 1/4 between 0 and 1: .4875 and
    # .5625, with the errors of a's 40 rewards in u and of the contexts' shares
    within = (0.75 * 0.7) ** 2 * 0.25 * 40 / 39 / 40
    low = 0.4875 - 1.959964 * math.sqrt(within + 0.65**2 * 0.1875 / 80)
    high = 0.5625 + 1.959964 * math.sqrt(within + 0.35**2 * 0.1875 / 80)
    assert f"between {low:.4g} and {high:.4g} at 95%, if missing rewards" in str(error.value)
    rows["arm"][-5:], rows["paid"][-5:] = ["b"] * 5, [None] * 5
    with pytest.raises(InvalidInput, match=r"b in v \(no reward seen\).*observe=\"arms\""):
        value(rows, target=MIX, **options)
    found = value(rows, target=MIX, observe="arms", **options)
    assert any("No reward was seen of b in v" in said for said in found.warnings)
    with pytest.raises(InvalidInput, match="at least one reward"):
        value({"arm": ["a", "b"], "paid": [None, None]}, target=MIX, **COLUMNS)


def test_an_arm_the_log_never_played_leaves_the_bound_of_the_others():
    target = {"a": 0.5, "z": 0.5}
    with pytest.raises(
        InvalidInput, match=r"must play arms that the log has \(a, b\).*got 'z'"
    ) as e:
        value(half_seen(), target=target, **COLUMNS)
    mean = 0.6  # of 200 seen rewards of a, each 0 or 1
    error = 0.5 * math.sqrt(mean * (1 - mean) * 200 / 199 / 200)
    low, high = 0.5 * mean - 1.959964 * error, 0.5 * mean + 0.5 + 1.959964 * error
    assert f"lies between {low:.4g} and {high:.4g} at 95%" in str(e.value)
    with pytest.raises(InvalidInput, match=r"got 'z'. Play another arm.$"):
        value(half_seen(), target={"z": 1}, **COLUMNS)
    with pytest.raises(InvalidInput, match=r"a sum of 0\.9"):
        value(half_seen(), target={"a": 0.5, "z": 0.4}, **COLUMNS)


def test_propensities_of_0_leave_the_bound_of_the_other_rows():
    rows = half_seen() | {"c": [0.0] * 100 + [0.5] * 1900}
    with pytest.raises(InvalidInput, match="100 rows where it is 0") as error:
        value(rows, target={"a": 1}, propensity="c", **COLUMNS)
    # Of a's 1,000 rows, 900 have propensities: 9/10 of what it plays; the rest pays 0 or 1.
    arm = np.array(rows["arm"]) == "a"
    paid = np.array(rows["paid"], dtype=float)
    weight = np.where(arm & (np.array(rows["c"]) > 0), 2.0, 0.0)
    seen = np.isfinite(paid)
    phi = np.where(seen, weight / 0.2 * np.nan_to_num(paid), 0.0)
    ends = []
    for end, z in ((0.0, -1.959964), (1.0, 1.959964)):
        of_end = phi + (1.0 - weight) * end
        ends.append(of_end.mean() + z * of_end.std(ddof=1) / math.sqrt(2000))
    assert f"between {ends[0]:.4g} and {ends[1]:.4g} at 95%, if the other prop" in str(error.value)


def test_plain_values_and_html_of_a_result():
    found = value(half_seen(), target=MIX, **COLUMNS)
    plain = found.to_dict()
    assert plain["value"]["value"] == found.value
    assert plain["bounds"][-1]["worst_case"] is True
    assert plain["bounds"][-1]["gamma"] is None
    assert plain["options"]["target"] == MIX
    assert found.summary() == str(found)
    assert "<p>By every estimator:</p><table" in found._repr_html_()
    with pytest.raises(InvalidInput, match="needs a policy to compare with"):
        value(half_seen(), target=MIX, compare=None, **COLUMNS).bounds(2.0, difference=True)


@pytest.mark.parametrize(
    ("arms", "contexts", "target"),
    [
        ([1.0, 2.0], [False, True], {False: {1: 1}, True: {2: 1}}),
        ([1, 2], [0.0, np.nan], {0: {1.0: 1}, None: {2.0: 1}}),
        (["1", "2"], ["x", "y"], {"x": {1: 1}, "y": {np.int64(2): 1}}),
    ],
)
def test_arms_and_contexts_are_named_by_value(arms, contexts, target):
    rows = {
        "arm": np.repeat(arms, 40),
        "paid": np.tile([1.0, 0.0, 0.0, np.nan], 20),
        "group": np.tile(np.repeat(contexts, 2), 20),
    }
    found = value(rows, target=target, context="group", observe={1: 0.75, 2.0: 0.75}, **COLUMNS)
    assert found.value == pytest.approx(0.25)


def test_an_arm_named_twice_is_refused():
    rows = {"arm": [1.0, 2.0] * 4, "paid": [1.0, 0.0, None, 1.0] * 2}
    with pytest.raises(InvalidInput, match="must name each arm once"):
        value(rows, target={1: 0.5, "1": 0.5}, **COLUMNS)
