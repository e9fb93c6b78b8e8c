"""Specs: every mistake is a sentence with field, value and fix; every study survives writing."""

import copy

import numpy as np
import pytest
from example_studies import EVERY_POLICY, MEANS, SPEC, TOML, broad_study, small_study, spec
from hypothesis import given
from hypothesis import strategies as st

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    FiniteActions,
    GeometricDelay,
    InvalidInput,
    LinearBandit,
    OTFLinUCB,
    PerArm,
    StorageError,
    Study,
    Uniform,
    read_spec,
)
from halfseen.policies import POLICIES
from halfseen.studies.plain_values import describe
from halfseen.studies.spec import parse_spec, policy_from, study_from
from halfseen.studies.toml_text import to_toml


def changed(path, value):
    """Return the spec with one entry changed, or dropped if the value is Ellipsis."""
    content = copy.deepcopy(SPEC)
    *way, last = path.split("/")
    place = content
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return content


SENTENCES = [
    # path, value, how the message starts, how it ends
    ("horizon", ..., "`horizon` is missing", "Add horizon to the spec."),
    ("problems", ..., "`problems` is missing", "Add problems to the spec."),
    ("policies", ..., "`policies` is missing", "Add policies to the spec."),
    ("level", "x", "`level` must be a number; got 'x'", "as 0.5."),
    (
        "sweep",
        {"number": "horizon", "values": [0.5, "x"]},
        "`sweep.values.1` must be a number",
        "0.5.",
    ),
    ("horizon", 0, "`horizon` must be a whole number of at least 1", "got 0."),
    ("horizon", 1e3, "`horizon` must be a whole number", "got 1000.0."),
    ("horizon", True, "`horizon` must be a whole number", "got True."),
    ("horizon", "many", "`horizon` must be a whole number", "got 'many'."),
    ("seed", -1, "`seed` must be a whole number", "got -1."),
    ("seed", 16**9000, "`seed` must be a whole number", "Use for example 1."),
    ("alphas", [0.0], "`alphas[0]` must be a finite number above 0", "got 0.0."),
    ("alphas", 1, "`alphas` must be a list of numbers", "got 1."),
    ("baseline", "no", "`baseline` must be true or false", "got 'no'."),
    ("horizn", 5, "`horizn` is not a known key", "Did you mean 'horizon'?"),
    ("zzz", 5, "`zzz` is not a known key", "Known keys: horizon, replications"),
    ("problems", [], "`problems` must be a table", "got []."),
    ("problems", {}, "`problems` must not be empty", "got {}."),
    ("problems/offers", 5, "`problems.offers` must be a table", "got 5."),
    (
        "problems/offers/kind",
        ...,
        "`problems.offers.kind` is missing",
        "Add one of: arms, linear, generalized-linear.",
    ),
    (
        "problems/offers/kind",
        "arm",
        "`problems.offers.kind` must be a known kind",
        "you mean 'arms'?",
    ),
    ("problems/offers/kind", 5, "`problems.offers.kind` must be one of", "got 5."),
    ("problems/offers/means", ..., "`problems.offers.means` is missing", "Add means = ..."),
    ("problems/offers/means", [1, "x"], "`problems.offers.means[1]` must be", "got 'x'."),
    ("problems/offers/mean", [1], "`problems.offers.mean` is not a known", "mean 'means'?"),
    ("problems/offers/reward", "bernouli", "`problems.offers.reward`", "mean 'bernoulli'?"),
    ("problems/offers/noise", 1, "`problems.offers.noise` is fixed", "Leave it out."),
    ("problems/offers/actions", "all", "`problems.offers.actions` must be a table", '"all" }.'),
    ("problems/offers/actions", {}, "`problems.offers.actions.kind` is missing", "fixed, random"),
    (
        "problems/offers/actions",
        {"kind": "fixed", "arms": [7]},
        "`problems.offers.actions.arms` must name arms below 3; got 7",
        "arms 0 to 2.",
    ),
    (
        "problems/offers/actions",
        {"kind": "sequence", "rounds": 5},
        "`problems.offers.actions.rounds` must list the playable arms",
        "got 5.",
    ),
    (
        "problems/offers/actions",
        {"kind": "fixed", "arm": [1]},
        "`problems.offers.actions.arm` is not a known key",
        "Did you mean 'arms'?",
    ),
    (
        "problems/offers/actions",
        {"kind": "random", "available": [0.5]},
        "`problems.offers.actions.available` must have 3 entries",
        "got 1 entry.",
    ),
    ("censorships/some/observe", ..., "`censorships.some.observe` is missing", "observe = ..."),
    ("censorships/some/observe", [0.0, 1, 1], "`censorships.some.observe[0]`", "got 0.0."),
    ("censorships/some/observe", [2, 1, 1], "`censorships.some.observe[0]`", "leave it out."),
    (
        "censorships/some/observe",
        [1, 1],
        "`censorships.some on problems.offers: PerArm.observe` must have 3 entries",
        "Match the problem's means.",
    ),
    (
        "policies/plain/kind",
        "usb",
        "`policies.plain.kind` must be a known kind",
        "Did you mean 'ucb'?",
    ),
    ("policies/plain/regularization", 0, "`policies.plain.regularization`", "Use 1.0."),
    ("policies/plain/lambda", 1, "`policies.plain.lambda` is not a known key", "Known keys: reg"),
    ("policies/plain/base", {}, "`policies.plain.base` is not a known key", "regularization"),
    ("policies/wrong/base", "ucb", "`policies.wrong.base` must be a table", 'kind = "ucb" }.'),
    ("policies/wrong/base", {"kind": "x"}, "`policies.wrong.base.kind` must be one of", "got 'x'"),
    (
        "policies/wrong/base",
        {"kind": "ucb", "bound": -1},
        "`policies.wrong.base.bound` must be a finite number at least 0",
        "got -1.",
    ),
    (
        "policies/wrong/base",
        {"kind": "impute-mean"},
        "`policies.wrong.base` must be a policy that leaves missing rewards missing",
        "Use for example UCB().",
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "start", "end"),
    SENTENCES,
    ids=[f"{number}-{case[0]}" for number, case in enumerate(SENTENCES)],
)
def test_mistakes_are_sentences(path, value, start, end):
    with pytest.raises(InvalidInput) as caught:
        study_from(changed(path, value))
    message = str(caught.value)
    assert message.startswith(start)
    assert end in message
    assert message.endswith((".", "?", "..."))
    assert "\n" not in message


@pytest.mark.parametrize("content", [None, 5, "text", [], {}, {1: 2}, {"\ud800": 1}])
def test_what_is_no_spec_at_all(content):
    with pytest.raises(InvalidInput):
        study_from(content)


@pytest.mark.parametrize(
    "text",
    ["horizon = ", "horizon", "[a", 'a = "\\x"', "a = 1\na = 2", "a = " + "[" * 5000, "= 1"],
)
def test_broken_toml(text):
    with pytest.raises(InvalidInput, match=r"`SPEC` must be TOML; got .* Correct that line"):
        parse_spec(text)


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("means = [.5, 0.4]", "Correct that line: write 0.5, not .5."),
        ("means = [0.5 0.4]", "Correct that line."),
        ('name = "see .5" 3', "Correct that line."),
        ('"at line 99" = 1 1', "Correct that line."),
    ],
)
def test_broken_toml_is_quoted_with_its_line(line, fix):
    with pytest.raises(InvalidInput) as caught:
        parse_spec(f"horizon = 60\n  {line}\n")
    assert "at line 2" in str(caught.value)
    assert line in str(caught.value)
    assert str(caught.value).endswith(fix)


def test_a_key_that_names_a_line_is_not_taken_for_the_place_of_the_error():
    with pytest.raises(InvalidInput, match=r"got '\[\"at line 99\"\]'.*at line 2, column"):
        parse_spec('["at line 99"]\n["at line 99"]\n')


def test_numbers_of_many_digits():
    with pytest.raises(InvalidInput, match="`SPEC` must be TOML"):
        parse_spec(TOML.replace("horizon = 60", "horizon = " + "9" * 5000))
    with pytest.raises(InvalidInput, match="`horizon` must be a whole number"):
        parse_spec(TOML.replace("horizon = 60", "horizon = 0x" + "f" * 9000))


@pytest.mark.slow
def test_deep_nesting():
    deep = "policies.x." + ".".join(["base"] * 5000) + '.kind = "ucb"\n' + TOML
    with pytest.raises(InvalidInput):
        parse_spec(deep)
    table = {"kind": "ucb"}
    for _ in range(5000):
        table = {"kind": "impute-zero", "base": table}
    with pytest.raises(InvalidInput, match="must not be nested that deeply"):
        study_from(changed("policies/wrong", table))


def test_reading_files(tmp_path):
    path = tmp_path / "study.toml"
    with pytest.raises(StorageError, match=r"Cannot read .*study\.toml: No such file.*Check the p"):
        read_spec(path)
    with pytest.raises(StorageError, match=r"Cannot read .*: Is a directory"):
        read_spec(tmp_path)
    with pytest.raises(InvalidInput):
        read_spec("a\0b")
    path.write_bytes(TOML.encode("utf-16"))
    with pytest.raises(InvalidInput, match=r"`SPEC` must be a UTF-8 text file.*Save it as UTF-8"):
        read_spec(path)
    path.write_text(TOML, encoding="utf-8")
    assert read_spec(path) == read_spec(str(path)) == study_from(SPEC)


def test_describing_gives_back_every_noun():
    study = broad_study()
    built_in = {kind for kind, c in POLICIES.items() if c.__module__.startswith("halfseen.")}
    assert {policy.kind for policy in study.policies.values()} == built_in
    assert study_from(study.to_dict()) == study
    for policy in EVERY_POLICY.values():
        assert policy_from(describe(policy)) == policy


def test_writing_gives_back_every_noun():
    study = broad_study()
    again = parse_spec(to_toml(study))
    assert again == study
    assert again.digest() == study.digest()
    assert list(again.policies) == list(study.policies)


def test_defaults_are_those_of_the_study():
    short = {key: value for key, value in spec().items() if key not in ("replications", "seed")}
    problem = ArmedBandit(MEANS, reward="bernoulli")
    nouns = study_from(short)
    assert nouns == Study(
        {"offers": problem}, {"some": PerArm([0.3, 0.9, 1.0])}, nouns.policies, horizon=60
    )


def test_numpy_numbers_are_written_as_numbers():
    study = small_study(policies=UCB(regularization=np.float64(0.5), bound=np.int64(3)))
    assert "np." not in to_toml(study)
    assert parse_spec(to_toml(study)) == study


@pytest.mark.slow
@given(st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True))
def test_names_survive_writing_or_are_refused(names):
    policies = {name: UCB() for name in names}
    if any(not name.isprintable() or not name.strip() for name in names):
        with pytest.raises(InvalidInput, match="must have printable names"):
            small_study(policies=policies)
        return
    study = small_study(policies=policies)
    assert parse_spec(to_toml(study)) == study
    assert study_from(study.to_dict()) == study


@pytest.mark.parametrize(
    "name",
    ['say "no"', "back\\slash", "λ ± 95%", "a.b", "[x]", "#no", "'", " a ", "\\u0041", "日本"],
)
def test_odd_names_survive_writing(name):
    study = small_study(
        problems={name: ArmedBandit(MEANS)}, censorships={name: Uniform(1)}, policies={name: UCB()}
    )
    again = parse_spec(to_toml(study))
    assert list(again.problems) == list(again.censorships) == list(again.policies) == [name]


@given(
    st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=4),
    st.floats(1e-300, 1.0),
    st.floats(0, allow_infinity=False, exclude_min=True),
)
def test_numbers_survive_writing_to_the_last_bit(means, observe, regularization):
    study = Study(ArmedBandit(means), Uniform(observe), UCB(regularization), horizon=5)
    assert parse_spec(to_toml(study)) == study


def test_the_link_of_a_generalized_linear_bandit_may_be_left_out():
    text = """
    horizon = 10
    [problems.p]
    kind = "generalized-linear"
    theta = [0.6, 0.3]
    actions = { kind = "finite", actions = [[1, 0], [0, 1]] }
    [censorships.c]
    kind = "uniform"
    observe = 0.5
    [policies.u]
    kind = "glm-ucb"
    """
    assert parse_spec(text).problems["p"].link == "logistic"


def test_a_linear_bandit_that_pays_0_or_1_survives_writing():
    actions = FiniteActions([[1.0, 0.0], [0.0, 1.0]])
    problem = LinearBandit([0.6, 0.3], actions=actions, reward="bernoulli")
    late = Delayed(GeometricDelay(5), window=9, sends="conversions")
    study = Study(problem, late, OTFLinUCB("printed"), horizon=10)
    assert parse_spec(to_toml(study)) == study
