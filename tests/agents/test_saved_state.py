"""An agent on disk: goes on bit for bit, or is refused; no content can do worse."""

import copy
import json
import math
import re

import numpy as np
import pytest
from example_studies import LIVE_POLICIES, STUDIED_POLICIES
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import UCB, Agent, BernoulliThompson, HalfseenError, StorageError
from halfseen.errors import shorten
from halfseen.policies import POLICIES
from halfseen.studies.storage import sealed


def live(agent, rounds, start=0):
    """Use an agent for a while, with feedback at once, late, missing and never; return its arms."""
    arms = []
    for step in range(start, start + rounds):
        decision = agent.choose(None if step % 4 else [step % 3, (step + 1) % 3])
        arms.append(decision.arm)
        if step % 5 == 1:
            agent.miss(decision)
        elif step % 5 != 2:
            agent.observe(decision, float((step * 7) % 3 == 0))
        if step % 11 == 10:
            agent.expire(4)
    return arms


def new(policy=None, seed=3):
    return Agent(policy or UCB(), 3, noise=0.5, horizon=200, reward="bernoulli", seed=seed)


@pytest.mark.parametrize("kind", sorted(LIVE_POLICIES))
def test_a_saved_agent_goes_on_bit_for_bit(tmp_path, kind):
    assert set(LIVE_POLICIES | STUDIED_POLICIES) == set(POLICIES)
    agent = new(LIVE_POLICIES[kind], seed=2**100)
    live(agent, 37)
    agent.save(tmp_path / "agent.json")
    again = Agent.load(tmp_path / "agent.json")
    assert again.policy == agent.policy
    assert again.pending == agent.pending != {}
    assert again.decisions == 37
    assert live(again, 60, start=37) == live(agent, 60, start=37)
    assert again.to_dict() == agent.to_dict()
    again.save(tmp_path / "again.json")
    agent.save(str(tmp_path / "agent.json"))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "agent.json").read_bytes()


def test_seeds_matter_to_policies_that_randomise():
    policy = LIVE_POLICIES["random"]
    assert live(new(policy, seed=1), 30) != live(new(policy, seed=2), 30)
    assert live(new(policy, seed=1), 30) == live(new(policy, seed=1), 30)


def test_any_state_survives(tmp_path):
    agent = Agent(UCB(), 2, noise=[0.1, 1 / 3], bound=1e-3)
    agent.observe(agent.choose(), 0.1)
    agent.observe(agent.choose(), -1e100)
    agent.save(tmp_path / "a")
    assert Agent.load(tmp_path / "a").to_dict() == agent.to_dict()


def test_saving_where_nothing_can_be_written(tmp_path):
    for path in (tmp_path, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(StorageError, match="Cannot write "):
            new().save(path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StorageError, match=r"Cannot read .*No such file"):
        Agent.load(tmp_path / "none")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Return what a saved agent looks like."""
    path = tmp_path_factory.mktemp("agent") / "agent.json"
    agent = new(BernoulliThompson())
    live(agent, 23)
    agent.save(path)
    return path.read_text()


def refused(tmp_path, written, error=StorageError):
    path = tmp_path / "agent.json"
    path.write_text(written) if isinstance(written, str) else path.write_bytes(written)
    with pytest.raises(error, match=re.escape(str(path))) as caught:
        Agent.load(path)
    assert re.search(r"\. [A-Z].*[.?]$", str(caught.value)), caught.value


def test_cut_short_anywhere(tmp_path, text):
    for length in range(0, len(text) - 2, 17):
        refused(tmp_path, text[:length])


def test_any_changed_digit(tmp_path, text):
    for place in [m.start() for m in re.finditer(r"\d", text)][::5]:
        digit = "1" if text[place] != "1" else "2"
        refused(tmp_path, text[:place] + digit + text[place + 1 :])


@pytest.mark.parametrize(
    "written",
    ["", "null", "5", "[]", "{}", '"x"', '{"a": 1}', "[" * 5000, b"\xff\xfe", b"\x80\x04K\x01."],
    ids=shorten,
)
def test_foreign_files(tmp_path, written):
    refused(tmp_path, written)


def changed(text, path, value):
    content = json.loads(text)
    *way, last = path.split("/")
    place = content
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    key = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return json.dumps(sealed(content))


SENSELESS = [
    ("format", ...),
    ("format", 1),
    ("format", "1"),
    ("policy", ...),
    ("policy", 5),
    ("policy", []),
    ("policy", {}),
    ("policy/kind", "cleverer"),
    ("policy/kind", 5),
    ("policy/kind", ["ucb"]),
    ("policy/successes", 0.0),
    ("policy/other", 1),
    ("policy", {"kind": "ucb1"} | {"exploration": "x"}),
    ("policy", {"kind": "impute-zero", "base": 5}),
    ("policy", {"kind": "robust-ucb", "order": True}),
    ("setting", 5),
    ("setting", []),
    ("setting", {}),
    ("setting/noise", []),
    ("setting/noise", 5),
    ("setting/noise", [0.5, 0.5]),
    ("setting/noise", [0.5, "x", 0.5]),
    ("setting/noise", {"a": 1, "b": 2, "c": 3}),
    ("setting/bound", -1.0),
    ("setting/bound", None),
    ("setting/horizon", 0),
    ("setting/reward", "gaussian"),
    ("setting/arms", 3),
    ("setting/policy", 3),
    ("setting/seed", 3),
    ("seed", -1),
    ("seed", "3"),
    ("seed", True),
    ("ledger/decisions", -1),
    ("ledger/decisions", 3),
    ("ledger/decisions", 23.5),
    ("ledger/decisions", "23"),
    ("ledger/decisions", 2**60),
    ("observations", []),
    ("observations", 5),
    ("observations/0", -1),
    ("observations/0", 10**30),
    ("observations/0", 1.5),
    ("observations/0", ...),
    ("state", 5),
    ("state", []),
    ("state", [[0.0, 0.0]]),
    ("state", [[0.0], [0.0], [0.0]]),
    ("state", [[0.0, 0.0], [0.0, 0.0], [0.0]]),
    ("state", [0.0, 0.0, 0.0]),
    ("state/0/0", -1.0),
    ("state/0/0", 1e9),
    ("state/0/0", "x"),
    ("state/0/0", None),
    ("state/0/0", math.nan),
    ("state/0/1", math.inf),
    ("state/0/1", 1e9),
    ("state/0/1", -1e9),
    ("ledger", ...),
    ("ledger", 5),
    ("ledger/observed", 1),
    ("ledger/censored", -1),
    ("ledger/late", 10**6),
    ("ledger/remember", "x"),
    ("ledger/settled", ...),
    ("ledger/open", 5),
    ("ledger/open", {}),
    ("ledger/open", [5]),
    ("ledger/open", [[1]]),
    ("ledger/open", []),
    ("ledger/open/0/0", "x" * 200),
    ("ledger/open/0/0", 24),
    ("ledger/open/0/1", 24),
    ("ledger/open/0/1", 0),
    ("ledger/open/0/2", -1),
    ("ledger/open/0/3", 3),
    ("ledger/open/0/3", 1.5),
    ("ledger/open/0/4", 2.0),
    ("ledger/open/0/5", -1.0),
    ("ledger/open/0/6", "now"),
    ("ledger/open/0/7", "observed"),
    ("ledger/open/0/7", "lost"),
    ("ledger/open/0/8", 1.0),
    ("ledger/settled/0/8", None),
    ("ledger/settled/0/7", "pending"),
]


@pytest.mark.parametrize(("path", "value"), SENSELESS, ids=shorten)
def test_senseless_content_with_a_good_checksum(tmp_path, text, path, value):
    assert Agent.load(_written(tmp_path, text)).decisions == 23
    refused(tmp_path, changed(text, path, value))


def _written(tmp_path, text):
    (tmp_path / "good.json").write_text(text)
    return tmp_path / "good.json"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["ucb", "", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_garbage_with_a_good_checksum(tmp_path_factory, text, data):
    content = copy.deepcopy(json.loads(text))
    key = data.draw(st.sampled_from(sorted(content)))
    place = content
    while isinstance(place[key], list | dict) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "garbage.json"
    path.write_text(json.dumps(sealed(content)))
    try:
        agent = Agent.load(path)
    except HalfseenError:
        return
    live(agent, 5, start=agent.decisions)  # what is accepted must work
    assert np.all(np.isfinite(agent._state))


def test_a_file_of_the_earlier_format_goes_on(tmp_path):
    agent = new()
    live(agent, 23)
    now = agent.to_dict()
    earlier = {key: now[key] for key in ("policy", "code", "setting", "seed", "observations")}
    earlier |= {key: now[key] for key in ("missed", "totals", "plays", "state")}
    earlier |= {"format": 2, "decisions": 23, "pending": [[n, a] for n, a in agent.pending.items()]}
    (tmp_path / "agent.json").write_text(json.dumps(sealed(earlier)))
    again = Agent.load(tmp_path / "agent.json")
    assert again.pending == agent.pending != {}
    assert again.counts == agent.counts
    assert live(again, 60, start=23) == live(agent, 60, start=23)


def test_a_dictionary_is_as_good_as_a_file():
    agent = new(BernoulliThompson())
    live(agent, 23)
    again = Agent.from_dict(json.loads(json.dumps(agent.to_dict())))
    assert live(again, 20, start=23) == live(agent, 20, start=23)
    with pytest.raises(StorageError, match="This dictionary is not the state of an Agent"):
        Agent.from_dict({"a": 1})
