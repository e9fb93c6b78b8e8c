"""What is on disk is whole and unaltered, or it is refused; nothing read can run code."""

import errno
import json
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from example_studies import small_study

import halfseen
from halfseen import Result, StorageError, simulate
from halfseen.studies.storage import (
    read_cell,
    read_json,
    sealed,
    write_bytes,
    write_cell,
    write_text,
)

ARRAYS = ["regret", "pulls", "observations", "potential", "optimism_failed", "censoring_failed"]


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a finished study of two cells."""
    study = small_study(policies=halfseen.UCB())
    simulate(study, engine="reference", out=tmp_path / "study")
    return tmp_path / "study"


def first_cell(folder):
    return min((folder / "cells").iterdir())


def refused(folder, damaged):
    """Demand that loading and resuming both refuse, in a sentence that names the file."""
    study = small_study(policies=halfseen.UCB())
    for read in (lambda: Result.load(folder), lambda: simulate(study, out=folder)):
        with pytest.raises(StorageError, match=re.escape(str(damaged))) as caught:
            read()
        assert re.search(r"(Delete|Choose|delete) ", str(caught.value))


@pytest.mark.parametrize("name", ARRAYS)
def test_truncated_arrays(folder, name):
    path = first_cell(folder) / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:-1])
    refused(folder, path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("place", [0, 8, 70, -1])
def test_flipped_bytes(folder, name, place):
    path = first_cell(folder) / f"{name}.npy"
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))
    refused(folder, path)


def test_missing_and_empty_files(folder):
    cell = first_cell(folder)
    for name in ("pulls.npy", "cell.json"):
        path = cell / name
        whole = path.read_bytes()
        path.write_bytes(b"")
        refused(folder, path)
        path.unlink()
        where = "unfinished study" if name == "cell.json" else re.escape(str(path))
        with pytest.raises(StorageError, match=where):
            Result.load(folder)
        path.write_bytes(whole)
    assert Result.load(folder).study.horizon == 60


def test_a_missing_cell_means_an_unfinished_study(folder):
    for path in first_cell(folder).iterdir():
        path.unlink()
    first_cell(folder).rmdir()
    with pytest.raises(StorageError, match=r"unfinished study.*resumes where it stopped"):
        Result.load(folder)


def edit(path, change, seal=False):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(sealed(content) if seal else content))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(seconds=0.0),
        lambda c: c.update(extra=1),
        lambda c: c.pop("checksum"),
        lambda c: c.pop("arrays"),
        lambda c: c["arrays"].pop("regret"),
        lambda c: c["arrays"].update(regret=c["arrays"]["pulls"]),
    ],
)
def test_edited_facts(folder, change):
    path = first_cell(folder) / "cell.json"
    edit(path, change)
    refused(folder, path)


@pytest.mark.parametrize("arrays", [None, [], 5, {}, {"regret": 1}, {"../../x": "y"}])
def test_facts_of_the_wrong_type(folder, arrays):
    path = first_cell(folder) / "cell.json"
    edit(path, lambda c: c.update(arrays=arrays), seal=True)
    refused(folder, path)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null", '"x"', "[" * 5000, "9" * 5000, "\0"])
def test_json_that_is_not_facts(folder, text):
    path = first_cell(folder) / "cell.json"
    path.write_text(text)
    refused(folder, path)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["study"].update(horizon=61),
        lambda c: c["study"].update(horizon="x"),
        lambda c: c["study"].pop("horizon"),
        lambda c: c["study"].update(other=1),
        lambda c: c.update(study=5),
        lambda c: c.update(digest=None),
        lambda c: c.pop("study"),
        lambda c: c.update(precision="half"),
    ],
)
def test_edited_study(folder, change):
    path = folder / "study.json"
    edit(path, change)
    refused(folder, path)


class Bomb:
    """Leaves a mark if it is ever unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def smuggle(folder, content):
    """Put bytes in the place of an array, with checksums that are right."""
    import hashlib

    path = first_cell(folder) / "regret.npy"
    path.write_bytes(content)
    good = hashlib.sha256(content).hexdigest()
    edit(first_cell(folder) / "cell.json", lambda c: c["arrays"].update(regret=good), seal=True)
    return path


def test_pickles_are_not_read(folder, tmp_path):
    mark = tmp_path / "ran"
    bomb = np.empty(1, object)
    bomb[0] = Bomb(mark)
    np.save(tmp_path / "bomb.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", regret=bomb, allow_pickle=True)
    for content in (
        pickle.dumps(Bomb(mark)),
        (tmp_path / "bomb.npy").read_bytes(),
        (tmp_path / "bomb.npz").read_bytes(),
    ):
        refused(folder, smuggle(folder, content))
        assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()  # the bomb does work


def test_arrays_of_another_shape_or_type(folder, tmp_path):
    cell = first_cell(folder)
    whole = np.load(cell / "regret.npy")
    for other in (whole[:-1], whole.astype(np.float32), whole.T, np.zeros(0), whole[..., None]):
        np.save(tmp_path / "other.npy", other)
        refused(folder, smuggle(folder, (tmp_path / "other.npy").read_bytes()))
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,), }"
    for junk in (b"", header, header.ljust(128) + b"\n", b"PK\x03\x04 no zip", b"\x93NUMPY"):
        refused(folder, smuggle(folder, junk))


def test_cells_come_back_the_same(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2], np.int8)}
    write_cell(tmp_path, "d", arrays, {"seconds": 1.5})
    blank = {name: np.zeros_like(array) for name, array in arrays.items()}
    assert read_cell(tmp_path, "d", blank) == {"seconds": 1.5}
    assert all(np.array_equal(blank[name], arrays[name]) for name in arrays)
    assert read_cell(tmp_path, "other", blank) is None
    write_cell(tmp_path, "d", {name: array + 1 for name, array in arrays.items()}, {})
    assert read_cell(tmp_path, "d", blank) == {}
    assert blank["b"].tolist() == [2, 3]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), OSError("8 requested, 0 written")]
)
def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    reason = error.strerror or str(error)
    with pytest.raises(StorageError, match=f"Cannot write .*kept: {reason}. No partial file"):
        write_bytes(tmp_path / "kept", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_keeps_what_was_there(tmp_path, monkeypatch):
    write_text(tmp_path / "kept", "old λ")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(StorageError, match="full"):
        write_text(tmp_path / "kept", "new")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "old λ"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_saving_keeps_the_mode_and_follows_a_link(tmp_path):
    path, link = tmp_path / "kept", tmp_path / "elsewhere" / "link"
    path.write_text("old")
    path.chmod(0o600)
    link.parent.mkdir()
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in link.parent.iterdir()] == ["link"]
    (tmp_path / "nowhere").symlink_to(tmp_path / "made" / "now")
    write_text(tmp_path / "nowhere", "there")
    assert (tmp_path / "made" / "now").read_text() == "there"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    write_text(tmp_path / "new", "text")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_threads_that_save_to_one_path_do_not_collide(tmp_path):
    texts = [str(n) * 5_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: write_text(tmp_path / "kept", texts[n % 8]), range(160)))
    assert (tmp_path / "kept").read_text() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_draft_left_by_a_kill_is_used_up_by_the_next_save(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from halfseen.studies.storage import write_text\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_text(Path(sys.argv[1]), 'new')"
    )
    path = tmp_path / ("n" * 250)  # as long as a name can be, nearly
    write_text(path, "old")
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    (draft,) = [other for other in tmp_path.iterdir() if other != path]
    write_text(path, "a minute later")
    assert draft.exists()  # it could be somebody's
    os.utime(draft, (0, 0))
    write_text(path, "a day later")
    assert list(tmp_path.iterdir()) == [path]


def test_devices_and_pipes_are_written_to_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_text)
        write_text(tmp_path / "pipe", "text")
        assert read.result(timeout=60) == "text"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_places_no_file_can_have(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "x", tmp_path / "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(StorageError, match="Cannot write"):
            write_text(path, "text")
    with pytest.raises(StorageError, match="Cannot read"):
        read_json(tmp_path)


def test_seals():
    assert sealed(sealed({"a": 1.5})) == sealed({"a": 1.5}) == sealed({"checksum": 0, "a": 1.5})
    assert sealed({"a": 1})["checksum"] != sealed({"a": 2})["checksum"]


def test_nothing_in_the_package_can_unpickle():
    package = Path(halfseen.__file__).parent
    words = re.compile(r"\b(pickle|shelve|marshal|dill|joblib|cloudpickle)\b(?!=False)")
    allowed = re.compile(r"allow_pickle=False|no pickle")
    trusted = {
        # Processes of one cluster hand cells to each other; nothing of it is read from disk.
        package / "engine" / "backends" / "dask.py",
        # Machine code of this user's own cache, which is run as it is anyway.
        package / "engine" / "code_cache.py",
        # A parent hands cells to the workers it started, through a pipe of its own.
        package / "engine" / "compile_ahead.py",
    }
    for path in package.rglob("*.py"):
        text = allowed.sub("", path.read_text(encoding="utf-8"))
        assert path in trusted or not words.search(text), path
        assert not re.search(r"\b(eval|exec)\(", text), path


def test_only_a_full_disk_asks_to_free_space(tmp_path):
    with pytest.raises(StorageError, match=r"No such file.*kept\. Choose another place") as told:
        write_text(Path("/proc/nothing/here"), "x")
    assert "space" not in str(told.value)
    with pytest.raises(StorageError, match=r"No space left on device.* Free some space"):
        write_text(Path("/dev/full"), "x" * 100_000)
