"""Whatever is asked in whatever order, the service does what a plain model does."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from halfseen.service import state_snapshots
from halfseen.service.exchange import Activate, Decide, Outcome, Served
from halfseen.service.refusals import Conflict, InvalidField, UnknownDecision
from service.driver import SECOND, Driver, banner, replay
from service.plain_model import Model

NAMES = st.integers(0, 12).map("d{}".format)
ARMS = st.sampled_from("abc")
REWARDS = st.none() | st.sampled_from([0.0, 0.25, 1.0])
RULES = ("first", "last", "sum", "mean", "max")
TIMES = st.none() | st.integers(1, 3)


def said(answer):
    if isinstance(answer, Conflict):
        return "conflict"
    if isinstance(answer, UnknownDecision):
        return "unknown"
    assert not isinstance(answer, InvalidField), answer
    return answer.state


class Machine(RuleBasedStateMachine):
    """Requests, alone or several at once, time, restarts, kills and new arms."""

    @initialize(
        rules=st.sampled_from([*((rule, "keep") for rule in RULES), ("first", "learn")]),
        policy=st.sampled_from(["ucb", "gaussian-thompson"]),
    )
    def begin(self, rules, policy):
        rewards, late = rules
        self.folder = tempfile.TemporaryDirectory()
        state_snapshots.ROWS = 3  # snapshots are written while requests come
        self.driver = Driver(Path(self.folder.name) / "log.sqlite", snapshot_every=40)
        changes = {"rewards": rewards, "late": late, "policy": {"kind": policy}}
        self.config = banner(**changes)
        self.driver.wait(self.driver.service.create_loop(self.config))
        self.model = Model(rewards, late, 10 * SECOND)
        self.serial = 0

    def expect(self, item, answer):
        """Do in the model what was asked, and return what it says."""
        now, model = self.driver.now, self.model
        if isinstance(item, Decide):
            request = (tuple(item.available or "all"), item.hold)
            return model.decide(item.id, request, item.hold, now, getattr(answer, "arm", None))
        if isinstance(item, Activate):
            return model.activate(item.id, now)
        if isinstance(item, Served):
            return model.serve(item.id, item.arm)
        return model.outcome(item.id, item.reward, item.client_at, now)

    def ask(self, *items):
        answers = self.driver.submit(*items)
        for item, answer in zip(items, answers, strict=True):
            assert said(answer) == self.expect(item, answer), item
            made = self.model.made.get(item.id)
            if isinstance(item, Decide) and not isinstance(answer, Conflict):
                assert (answer.arm, answer.expires_at) == (made.chosen, made.expires)
                assert item.available is None or answer.arm in item.available

    @rule(name=NAMES, some=st.none() | st.sets(ARMS, min_size=1), hold=st.booleans())
    def decide(self, name, some, hold):
        self.ask(Decide(name, None if some is None else sorted(some), hold=hold))

    @rule(name=NAMES)
    def decide_plainly(self, name):
        self.ask(Decide(name))

    @rule(name=NAMES, reward=REWARDS, at=TIMES)
    def outcome(self, name, reward, at):
        self.ask(Outcome(name, reward, at))

    @rule(name=NAMES)
    def activate(self, name):
        self.ask(Activate(name))

    @rule(name=NAMES, arm=ARMS)
    def serve(self, name, arm):
        self.ask(Served(name, arm))

    @rule(
        asked=st.lists(st.tuples(NAMES, st.integers(0, 4)), min_size=2, max_size=8),
        one=st.booleans(),
        reward=REWARDS,
        arm=ARMS,
    )
    def several_at_once(self, asked, one, reward, arm):
        makers = [
            Decide,
            Activate,
            lambda name: Outcome(name, reward),
            lambda name: Served(name, arm),
            lambda name: Decide(name, hold=True),
        ]
        self.ask(*(makers[kind](asked[0][0] if one else name) for name, kind in asked))

    @rule(seconds=st.sampled_from([-2, 1, 4, 11]))
    def time_passes(self, seconds):
        self.driver.now = max(self.state().tally.last_at, self.driver.now + seconds * SECOND)

    @rule(days=st.sampled_from([1, 4000]), name=NAMES, hold=st.booleans())
    def the_clock_is_set_forward_and_back(self, days, name, hold):
        self.driver.now += days * 86_400 * SECOND
        self.ask(Decide(name, hold=hold))
        self.windows_close()
        self.driver.now -= days * 86_400 * SECOND
        self.driver.sweep()
        if self.state().tally.last_at == self.driver.now:
            self.model.clock_set_back(self.driver.now)
        self.driver.now = max(self.driver.now, self.state().tally.last_at)

    @rule(seconds=st.sampled_from([5.0, 10.0, 30.0]))
    def the_window_changes(self, seconds):
        self.config = self.config.model_copy(update={"window": seconds})
        self.driver.wait(self.driver.service.revise_loop(self.config))
        self.model.window = round(seconds * SECOND)

    @rule()
    def windows_close(self):
        self.driver.sweep()
        self.model.sweep(self.driver.now)

    @rule(kill=st.booleans())
    def restart(self, kill):
        if kill:
            self.driver.drop()
            self.driver.open()
        else:
            self.driver.restart()

    @rule()
    def an_arm_comes(self):
        if self.serial < 3:
            self.serial += 1
            arms = [*self.config.arms, f"new{self.serial}"]
            self.config = self.config.model_copy(update={"arms": arms})
            self.driver.wait(self.driver.service.revise_loop(self.config))

    def state(self):
        return self.driver.state()

    @invariant()
    def counts_and_sums_agree(self):
        if not hasattr(self, "model"):
            return
        status = self.driver.wait(self.driver.service.status("banner"))
        assert {key: status[key] for key in self.model.counted()} == self.model.counted()
        learned = self.model.learned()
        agent = self.state().agent
        for arm, total, count in zip(agent.arms.names, agent._totals, agent._seen, strict=True):
            assert (pytest.approx(total, abs=1e-9), count) == learned.get(arm, (0.0, 0))

    def teardown(self):
        if hasattr(self, "driver"):
            assert self.state().to_dict() == replay(self.driver).to_dict()
            assert self.driver.wait(self.driver.service.check()) == []
            self.driver.close()
            self.folder.cleanup()


QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.mark.slow
class TestShort(Machine.TestCase):
    settings = settings(max_examples=6, stateful_step_count=40, **QUIET)


@pytest.mark.slow
class TestLong(Machine.TestCase):
    """20,000 steps."""

    settings = settings(max_examples=200, stateful_step_count=100, **QUIET)
