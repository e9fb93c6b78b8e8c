"""A folder gives back what this code and these parameters give, or says why it cannot."""

import importlib
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from example_studies import small_study

from halfseen import (
    UCB,
    ArmedBandit,
    FiniteActions,
    GeneralizedLinearBandit,
    InvalidInput,
    LinearBandit,
    Link,
    LinUCB,
    Result,
    RidgeGLMUCB,
    SequenceOfActions,
    StorageError,
    Study,
    Summary,
    Uniform,
    simulate,
    summarize,
)
from halfseen.policies import POLICIES
from halfseen.problems.links import LINKS

POLICY = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from halfseen.policies import Policy, register
def bonus(arm):
    return 1.0 * arm
def index(state, arm, clock, stream, table):
    return bonus(arm) + table[arm, 0]
@register
@dataclass(frozen=True)
class Fixed(Policy):
    kind: ClassVar[str] = "fixed, for tests"
    index = staticmethod(index)
    def table(self, setting):
        return np.zeros((setting.arms, 1))
"""


@pytest.fixture
def policy(tmp_path, monkeypatch, own_kinds):
    """Return what writes a module with a policy, imports it and makes the policy."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(text, name="policy_for_tests"):
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        POLICIES.pop("fixed, for tests", None)
        return importlib.import_module(name).Fixed()

    return made


def arms(policy, **changes):
    return small_study(policies=policy, problems=ArmedBandit([0.6, 0.4, 0.6]), **changes)


def regret(result):
    return float(result.tracks["regret"][0, 0, 0, :, -1].mean())


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("1.0 * arm", "-arm if arm == 1 else 0.0", 0.0),  # a function that a kernel calls
        ("bonus(arm) +", "(1.0 if arm == 1 else 0.0) +", 12.0),  # the kernel
        ("np.zeros((setting.arms, 1))", "np.array([[0.0], [5.0], [0.0]])", 12.0),  # a method
    ],
)
def test_edited_policies_are_played_again(tmp_path, policy, before, after, expected):
    out = tmp_path / "out"
    old = simulate(arms(policy(POLICY)), engine="reference", out=out)
    assert regret(old) == 0.0
    edited = arms(policy(POLICY.replace(before, after)))
    new = simulate(edited, engine="reference", out=out)
    assert new.fingerprints.cells != old.fingerprints.cells
    assert regret(new) == pytest.approx(expected)
    assert regret(Result.load(out)) == regret(new)
    with_words = policy('"""Words."""\n' + POLICY.replace("1.0 * arm", "(1.0 * arm)  # a note"))
    assert arms(with_words).fingerprints() == old.fingerprints  # and the old numbers come back
    assert regret(simulate(arms(with_words), engine="reference", out=out)) == 0.0


def test_loading_after_an_edit_says_what_changed(tmp_path, policy):
    simulate(arms({"mine": policy(POLICY)}), engine="reference", out=tmp_path / "out")
    policy(POLICY.replace("1.0 * arm", "2.0 * arm"))
    with pytest.raises(
        StorageError, match=r"was played with other code: .* behind policies"
    ) as told:
        Result.load(tmp_path / "out")
    assert "unfinished" not in str(told.value)
    with pytest.raises(StorageError, match=r"policies\.mine has changed since"):
        Summary.load(tmp_path / "out")


@pytest.mark.slow
def test_after_an_edit_only_a_few_policies_are_listed_by_short_names(tmp_path, policy):
    many = {f"{'x' * 300}{i}": policy(POLICY) for i in range(30)}
    simulate(arms(many), engine="reference", out=tmp_path / "out")
    policy(POLICY.replace("1.0 * arm", "2.0 * arm"))
    with pytest.raises(StorageError, match="and 25 more has changed since") as told:
        Result.load(tmp_path / "out")
    assert len(str(told.value).replace(str(tmp_path), "")) < 600


def test_results_are_saved_under_the_code_that_played_them(tmp_path, policy, monkeypatch):
    mine = policy(POLICY)
    result = simulate(arms(mine), engine="reference")
    monkeypatch.setattr(sys.modules[type(mine).__module__], "bonus", lambda arm: -1.0 * arm)
    result.save(tmp_path / "out")  # numbers of the old function
    assert result.fingerprints.cells != result.study.fingerprints().cells
    with pytest.raises(StorageError, match="was played with other code"):
        Result.load(tmp_path / "out", result.study)


def test_kinds_that_are_not_registered_are_named_with_their_module(tmp_path, policy, monkeypatch):
    study = arms({"mine": policy(POLICY)})
    simulate(study, engine="reference", out=tmp_path / "out")
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    del POLICIES["fixed, for tests"]
    with pytest.raises(StorageError) as caught:
        Result.load(tmp_path / "out")
    said = str(caught.value)
    assert "policies.mine is of the kind 'fixed, for tests', which is not known here" in said
    assert (
        "It was defined as policy_for_tests.Fixed: import that module and register the class"
        " there (the command: --import policy_for_tests)" in said
    )
    assert "elete" not in said
    again = simulate(study, engine="reference", out=tmp_path / "out")  # needs no registration
    assert regret(again) == regret(Result.load(tmp_path / "out", study))
    after = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert after == before


def curve(scale):
    """Return a link called "bend", as a notebook's cell would make it."""
    return Link("bend", lambda z: scale * np.tanh(z), lambda z: scale * (1 - np.tanh(z) ** 2))


def bent(link):
    rows = FiniteActions([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    problem = GeneralizedLinearBandit([0.5, -0.3], link=link, actions=rows, noise=0.3)
    return Study(problem, Uniform(0.5), RidgeGLMUCB(), horizon=50, replications=3, baseline=False)


@pytest.fixture
def links(monkeypatch):
    for name, link in LINKS.items():
        monkeypatch.setitem(LINKS, name, link)
    yield
    LINKS.pop("bend", None)


def test_a_link_can_be_defined_again(tmp_path, links):
    first, same, other = bent(curve(1.0)), bent(curve(1.0)), bent(curve(2.0))
    assert first == same != other
    assert first.digest() == same.digest() != other.digest()
    assert first.problems["generalized-linear"].best_mean() < 1.0  # keeps its own curve
    found = simulate(first, engine="reference", out=tmp_path / "out")
    assert regret(simulate(same, engine="reference", out=tmp_path / "out")) == regret(found)
    twice = simulate(other, engine="reference", out=tmp_path / "out")
    assert regret(twice) == regret(simulate(other, engine="reference")) != regret(found)


def test_an_unknown_link_is_named(tmp_path, links):
    simulate(bent(curve(1.0)), engine="reference", out=tmp_path / "out")
    del LINKS["bend"]
    said = r"problems\.generalized-linear\.link is of the link 'bend', which is not known here\. It"
    with pytest.raises(StorageError, match=said):
        Result.load(tmp_path / "out")


def test_a_file_of_actions_counts_by_what_it_holds(tmp_path):
    def study():
        problem = LinearBandit([0.5, 0.1], actions=SequenceOfActions(str(tmp_path / "a.npy")))
        return Study(problem, Uniform(0.5), LinUCB(), horizon=20, replications=2, baseline=False)

    rounds = np.random.default_rng(1).uniform(-0.5, 0.5, (20, 3, 2))
    np.save(tmp_path / "a.npy", rounds)
    before = simulate(study(), engine="reference", out=tmp_path / "out")
    rounds[3:] *= -0.5
    np.save(tmp_path / "b.npy", rounds)
    (tmp_path / "b.npy").replace(tmp_path / "a.npy")
    with pytest.raises(StorageError, match=r"code or file behind problems\.linear has changed"):
        Result.load(tmp_path / "out")
    assert regret(simulate(study(), engine="reference", out=tmp_path / "out")) != regret(before)


def test_numbers_of_another_version_are_played_again(tmp_path, monkeypatch):
    study = small_study(policies=UCB())
    simulate(study, engine="reference", out=tmp_path / "out")
    monkeypatch.setattr("halfseen.studies.study.TRAJECTORIES", 10**6)
    monkeypatch.setattr("halfseen.studies.folder.TRAJECTORIES", 10**6)
    with pytest.raises(StorageError, match="was played by another version of halfseen"):
        Result.load(tmp_path / "out")


def test_actions_are_hashed_once_for_all_cells(monkeypatch):
    sizes = []
    hashed = np.ndarray.tobytes

    class Counting:
        @staticmethod
        def array(walk, array):
            sizes.append(array.nbytes)
            walk.note(str(array.shape), hashed(array).hex()[:64])

    monkeypatch.setattr("halfseen.fingerprint.walk._Walk._array", Counting.array)
    rows = np.random.default_rng(1).uniform(-0.2, 0.2, (50, 4))
    problem = LinearBandit([0.5] * 4, actions=FiniteActions(rows))
    policies = {str(k): LinUCB(regularization=k) for k in range(1, 6)}
    study = Study(problem, {str(k): Uniform(k / 9) for k in range(1, 9)}, policies, horizon=10)
    assert len(study.fingerprints().cells) == 45
    assert sizes.count(rows.nbytes) == 1


def test_a_second_run_into_the_same_folder_is_refused_until_the_first_ends(tmp_path):
    study, seen = small_study(policies=UCB()), []

    def nested(done, total, cell):
        for run in (simulate, summarize):
            with pytest.raises(StorageError, match=r"out is in use by another run. Wait until"):
                run(study, out=tmp_path / "out")
        seen.append(done)

    simulate(study, engine="reference", out=tmp_path / "out", progress=nested)
    assert seen
    simulate(study, engine="reference", out=tmp_path / "out")  # the lock has gone


HOLD = """
import sys, time
from example_studies import small_study
from halfseen.studies.folder import reserve_folder
study = small_study()
with reserve_folder(__import__("pathlib").Path(sys.argv[1]), study, "double", study.fingerprints()):
    print("held", flush=True)
    time.sleep(60)
"""


def python(code, *arguments, **options):
    path = os.pathsep.join(
        [os.path.dirname(os.path.dirname(__file__)), os.environ.get("PYTHONPATH", "")]
    )
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def test_a_lock_goes_with_its_process(tmp_path):
    with python(HOLD, tmp_path / "out") as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StorageError, match="in use by another run"):
            simulate(small_study(), engine="reference", out=tmp_path / "out")
        process.kill()
    simulate(small_study(), engine="reference", out=tmp_path / "out")


KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
import numpy as np
from example_studies import small_study
from halfseen import UCB, Result
from halfseen.studies import storage
study = small_study(policies=UCB(), replications=3)
folder, moments = Path(sys.argv[1]), int(sys.argv[2])
result = Result.empty(study)
calls = 0
def save(mark):
    for array in result.tracks.values():
        array[...] = mark
    result.save(folder)
def counted(function, fatal):
    def wrapper(*arguments, **options):
        global calls
        calls += 1
        if calls == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return wrapper
def arm(fatal):
    for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "open"):
        setattr(os, name, counted(getattr(os, name), fatal))
    storage.save_array = counted(storage.save_array, fatal)
def whole():
    try:
        loaded = Result.load(folder)
    except Exception as error:
        return str(error)
    marks = []
    for position, cell in study.cells():
        arrays = loaded.track(position, cell).arrays().values()
        values = {float(value) for array in arrays for value in array.flat}
        if len(values) != 1:
            return f"mixed {values}"
        marks += values
    return sorted(set(marks))
begun = time.perf_counter()
save(1)
longest = max(0.15, 3.0 * (time.perf_counter() - begun))  # until a kill
tries, failures, seen = 0, [], set()
def tried(child, after):
    global tries
    mark = 2 + tries % 5
    pid = os.fork()
    if pid == 0:
        child(mark)
        os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    ended = os.waitpid(pid, 0)[1]
    tries += 1
    found = whole()
    if isinstance(found, str):
        failures.append(found)
        save(mark)
    else:
        seen.add(str(found))
    return os.WIFSIGNALED(ended)
if moments:
    random.seed(moments)
    def again_and_again(mark):
        while True:
            save(mark)
    for _ in range(moments):
        tried(again_and_again, random.uniform(0.0, longest))
else:
    fatal = 1
    while tried(lambda mark: (arm(fatal), save(mark)), None):
        fatal += 1
print(json.dumps([tries, failures, len(seen)]))
"""


def is_whole(folder, marks):
    """Demand that every cell is of one save, and return those saves."""
    result = Result.load(folder)
    found = []
    for position, cell in result.study.cells():
        values = {float(v) for a in result.track(position, cell).arrays().values() for v in a.flat}
        assert len(values) == 1
        found += values
    assert set(found) <= set(marks)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "moments", [pytest.param(0, id="each call in turn"), pytest.param(25, id="random moments")]
)
def test_a_save_that_is_killed_leaves_the_old_or_the_new(tmp_path, moments):
    with python(KILLS, tmp_path / "out", moments) as process:
        tries, failures, different = json.loads(process.communicate(timeout=300)[0])
    assert failures == []
    assert tries >= (moments or 50)
    assert different > 1


@pytest.mark.slow
def test_a_save_killed_between_its_calls_leaves_the_old_or_the_new(tmp_path, monkeypatch):
    """The same in one process: the call and all clean-up after it are cut off."""
    study = small_study(policies=UCB(), replications=3)
    results = {mark: Result.empty(study) for mark in (1.0, 2.0)}
    for mark, result in results.items():
        for array in result.tracks.values():
            array[...] = mark
    folder = tmp_path / "out"
    results[1.0].save(folder)
    calls = 0

    def counted(function, fatal):
        def wrapper(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls >= fatal:
                raise KeyboardInterrupt  # at every later call too, as if there were none
            return function(*arguments, **options)

        return wrapper

    names = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir")
    fatal, mark = 1, 1.0
    while True:
        calls, mark = 0, 3.0 - mark
        with monkeypatch.context() as patch:
            for name in names:
                patch.setattr(os, name, counted(getattr(os, name), fatal))
            try:
                results[mark].save(folder)
            except KeyboardInterrupt:
                pass
            else:
                break
        is_whole(folder, results)
        fatal += 1
    assert fatal > 30
    assert is_whole(folder, results) == [mark, mark]
    assert not [path for path in folder.rglob(".*") if path.name != ".lock"]


def test_what_killed_runs_left_is_taken_away_by_the_next(tmp_path):
    study, out = small_study(policies=UCB()), tmp_path / "out"
    simulate(study, engine="reference", out=out)
    cell = min((out / "cells").iterdir())
    (out / "cells" / ".draft-of-old-code.draft").mkdir()
    (out / "cells" / ".draft-of-old-code.draft" / "regret.npy").write_bytes(b"half")
    (out / ".0123.draft").write_text("half a report")
    os.utime(out / ".0123.draft", (0, 0))
    cell.rename(cell.with_name(f".{cell.name}.old"))  # a save stopped between its two renames
    assert regret(Result.load(out)) == regret(simulate(study, engine="reference"))
    simulate(study, engine="reference", out=out)
    assert cell.exists()
    assert sorted(path.name for path in out.rglob(".*")) == [".lock"]


def test_a_folder_killed_before_anything_was_written_can_be_used(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").touch()
    (tmp_path / "out" / ".0123.draft").write_text("half")
    simulate(small_study(policies=UCB()), engine="reference", out=tmp_path / "out")


def test_folders_and_files_that_cannot_be_read_are_a_sentence(tmp_path, monkeypatch):
    study = small_study(policies=UCB())
    simulate(study, engine="reference", out=tmp_path / "out")
    for place in (tmp_path / ("x" * 300), tmp_path / "out" / "study.json" / "x", tmp_path / "a\0b"):
        for read in (Result.load, Summary.load):
            with pytest.raises(StorageError, match=r"^(Cannot read|.* holds no study)"):
                read(place)
    real = os.open, open

    def refuse(path, *arguments, **options):
        if str(path).endswith(".npy"):
            raise PermissionError(13, "Permission denied", str(path))
        return real[1](path, *arguments, **options)

    monkeypatch.setattr("io.open", refuse)
    with pytest.raises(StorageError, match=r"^Cannot read .*npy: Permission denied. Check") as said:
        Result.load(tmp_path / "out")
    assert "elete" not in str(said.value)


def test_a_study_file_that_was_altered_is_refused_and_nobody_is_told_to_delete_it(tmp_path):
    simulate(small_study(policies=UCB()), engine="reference", out=tmp_path / "out")
    path = tmp_path / "out" / "study.json"
    content = json.loads(path.read_text())
    content["study"]["horizon"] = 61
    path.write_text(json.dumps(content))
    with pytest.raises(StorageError, match="altered or written by another version") as caught:
        Result.load(tmp_path / "out")
    assert "elete" not in str(caught.value)


def test_a_class_of_ones_own_problems_is_refused():
    class Mine(ArmedBandit):
        pass

    with pytest.raises(InvalidInput, match="must be an ArmedBandit, LinearBandit or"):
        small_study(problems=Mine([0.5, 0.4, 0.3]))
