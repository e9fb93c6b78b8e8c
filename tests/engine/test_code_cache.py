"""Compiled code on disk: shared, safe from damage, and never in the way where it cannot be kept."""

import hashlib
import logging
import os
import pickle
import resource
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path

import numba
import pytest

from halfseen.engine import code_cache
from halfseen.engine.code_cache import ENTRY, FORMAT, cache_folder, clear_cache, kept, prune
from halfseen.engine.one_module import whole
from halfseen.studies import machine as doctor

FINGERPRINT = "a fingerprint"
NOBODY = 65534


def square_plus(x, y):
    return x * x + y


def fresh(fingerprint=FINGERPRINT):
    """Return the function as a new process would have it: nothing compiled in memory."""
    return whole(square_plus, fingerprint, cached=True, counts=False)


def hits(function):
    return sum(function.stats.cache_hits.values())


def sealed(body):
    return FORMAT + hashlib.sha256(body).digest() + body


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(code_cache, "_told", set())
    return tmp_path / "cache"


@pytest.fixture
def entry(folder):
    assert fresh()(3.0, 1.0) == 10.0
    (path,) = folder.iterdir()
    return path


def test_code_is_found_again_by_fingerprint_and_types_alone(entry, folder):
    again = fresh()
    assert again(2.0, 1.0) == 5.0
    assert hits(again) == 1
    assert again(2, 1) == 5  # other types
    assert fresh("another fingerprint")(2.0, 1.0) == 5.0
    assert len(list(folder.iterdir())) == 3


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "cut in the header": lambda content: content[:10],
    "cut in the digest": lambda content: content[: len(FORMAT) + 5],
    "cut in half": lambda content: content[: len(content) // 2],
    "cut by one byte": lambda content: content[:-1],
    "one bit of the header": lambda content: flipped(content, 3),
    "one bit of the digest": lambda content: flipped(content, len(FORMAT) + 3),
    "one bit of the code": lambda content: flipped(content, len(content) // 2),
    "the last bit": lambda content: flipped(content, -1 % len(content)),
    "longer": lambda content: content + b"x",
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: os.urandom(len(content)),
    "another format": lambda content: b"halfseen compiled code 0\n" + content[len(FORMAT) :],
    "no pickle": lambda content: sealed(b"no pickle"),
    "a pickle of a number": lambda content: sealed(pickle.dumps(3)),
    "a pickle of too little": lambda content: sealed(pickle.dumps((1, 2))),
    "a pickle of other types": lambda content: sealed(pickle.dumps((("x",), [], ()))),
    "a pickle that needs what is not there": lambda content: sealed(
        pickle.dumps((pickle.loads(content[len(FORMAT) + 32 :])[0], [("gone", ())], ()))
    ),
    "a pickle of a class that is gone": lambda content: sealed(b"cno_such_module\nThing\n."),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_deleted_and_compiled_again(kind, entry):
    whole_entry = entry.read_bytes()
    entry.write_bytes(DAMAGE[kind](whole_entry))
    damaged = fresh()
    assert damaged(3.0, 1.0) == 10.0
    assert hits(damaged) == 0
    again = fresh()
    assert again(3.0, 1.0) == 10.0
    assert hits(again) == 1


def test_an_entry_that_cannot_be_read_is_no_error(entry):
    entry.unlink()
    entry.mkdir()
    assert fresh()(3.0, 1.0) == 10.0


def test_a_full_disk_costs_a_line_in_the_log_and_nothing_else(folder, monkeypatch, caplog):
    def full(*names):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with caplog.at_level(logging.WARNING, "halfseen"):
        assert fresh()(3.0, 1.0) == 10.0
        assert fresh("another")(3.0, 1.0) == 10.0
    assert list(folder.iterdir()) == []
    assert len(caplog.records) == 1
    assert "No space left on device" in caplog.text
    assert "HALFSEEN_CACHE_DIR" in caplog.text


def test_the_least_recently_used_entries_go_when_the_cache_is_too_large(tmp_path):
    for age in range(5):
        path = tmp_path / f"{age}{ENTRY}"
        path.write_bytes(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - age))
    abandoned = tmp_path / "old.draft"
    abandoned.write_bytes(bytes(1000))
    os.utime(abandoned, (1e9, 1e9))
    (tmp_path / "new.draft").write_bytes(bytes(1000))
    (tmp_path / "letter.txt").write_text("not ours")
    prune(tmp_path, largest=250)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"0{ENTRY}", f"1{ENTRY}", "new.draft", "letter.txt"}


def test_clearing_deletes_compiled_code_and_nothing_else(entry, folder):
    (folder / "letter.txt").write_text("not ours")
    assert kept().entries == 1
    found = doctor.clear()
    assert (found.entries, found.cache) == (1, str(folder))
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
    assert clear_cache().entries == 0


def test_the_cache_is_in_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("HALFSEEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "halfseen" / "compiled"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_folder() == tmp_path / "x" / "halfseen" / "compiled"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the convention
    assert cache_folder() == tmp_path / ".cache" / "halfseen" / "compiled"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "halfseen" / "compiled"


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from engine import test_code_cache
function = test_code_cache.fresh()
assert function(3.0, 1.0) == 10.0
print(test_code_cache.hits(function))
"""
AGENT = """
from halfseen import UCB, Agent
print(Agent(UCB(), arms=2).choose().arm)
"""


def run(script, cache, before=(), env=None, **options):
    return subprocess.run(
        [*before, sys.executable, "-c", script.format(here=str(Path(__file__).parents[1]))],
        # A process whose files are cut short would leave a module cut short behind it.
        env=os.environ
        | {"HALFSEEN_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        | (env or {}),
        capture_output=True,
        text=True,
        **options,
    )


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_do_not_disturb_each_other(tmp_path):
    command = [sys.executable, "-c", SCRIPT.format(here=str(Path(__file__).parents[1]))]
    environment = os.environ | {"HALFSEEN_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in running:
        _, error = process.communicate()
        assert process.returncode == 0, error
    assert [path.suffix for path in tmp_path.iterdir()] == [ENTRY]
    assert run(SCRIPT, tmp_path).stdout == "1\n"


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.slow
def test_a_disk_that_fills_while_writing_leaves_no_half_written_entry(tmp_path):
    ended = run(SCRIPT, tmp_path, preexec_fn=small_files)
    assert (ended.returncode, ended.stdout) == (0, "0\n")
    assert list(tmp_path.iterdir()) == []
    assert len(ended.stderr.splitlines()) == 1
    assert "File too large" in ended.stderr


def another_user():
    """Return what runs a command as a user who may write nowhere; nothing if this user may not.

    Where Python is installed for root alone, the user is allowed to read it.
    """
    if os.getuid() != 0:
        return []
    plain = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    asked = [*plain, sys.executable, "-c", "import numba, sys; print(sys.version)"]
    if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == sys.version:
        return plain
    return [*plain, "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"]


@pytest.mark.slow
@pytest.mark.parametrize("script", [SCRIPT, AGENT], ids=["function", "agent"])
def test_a_user_without_a_writable_home_compiles_in_memory_and_is_told_once(script, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    home = {"HOME": str(tmp_path / "locked"), "XDG_CACHE_HOME": "", "HALFSEEN_CACHE_DIR": ""}
    ended = run(script, "", env=home, before=another_user(), cwd="/")
    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "cannot be kept on disk" in ended.stderr


@pytest.mark.slow
def test_a_cache_that_can_only_be_read_is_used(entry, folder):
    folder.chmod(0o755)
    entry.chmod(0o644)
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)
    ended = run(SCRIPT, folder, before=another_user(), cwd="/")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


@pytest.mark.slow
def test_a_cache_path_that_is_a_file_is_said_once_and_rightly(tmp_path):
    (tmp_path / "file").write_text("")
    ended = run(SCRIPT, tmp_path / "file")
    assert (ended.returncode, ended.stdout) == (0, "0\n")
    assert len(ended.stderr.splitlines()) == 1
    assert "is not a folder" in ended.stderr


def test_an_entry_that_is_a_folder_is_replaced(entry):
    entry.unlink()
    entry.mkdir()
    again = fresh()
    assert (again(2.0, 1.0), hits(again)) == (5.0, 0)
    assert entry.is_file()
    found = fresh()
    assert (found(2.0, 1.0), hits(found)) == (5.0, 1)


def test_clearing_deletes_folders_in_place_of_entries_and_says_what_it_may_not_read(
    folder, monkeypatch
):
    (folder / f"one{ENTRY}").mkdir(parents=True)
    (folder / f"one{ENTRY}" / "inside").touch()
    assert clear_cache().entries == 1
    assert kept().entries == 0

    def refuse(place):
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr("halfseen.engine.code_cache.os.scandir", refuse)
    with pytest.raises(PermissionError):
        clear_cache()


@pytest.mark.parametrize(("setting", "value"), [("OPT", 0), ("BOUNDSCHECK", 1)])
def test_code_compiled_with_other_settings_of_numba_is_not_taken(
    setting, value, entry, folder, monkeypatch
):
    """With NUMBA_OPT=0 once, every later process played a tenth as fast."""
    monkeypatch.setattr(numba.config, setting, value)
    other = fresh()
    assert other(2.0, 1.0) == 5.0
    assert not hits(other)
    assert len(list(folder.iterdir())) == 2
    monkeypatch.undo()
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(folder))
    again = fresh()
    assert again(2.0, 1.0) == 5.0
    assert hits(again) == 1


def test_a_cache_in_the_home_of_nobody_is_no_folder(monkeypatch, caplog):
    monkeypatch.setattr(code_cache, "_told", set())
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", "~nobody-of-this-name/cache")
    assert cache_folder() is None
    assert fresh()(2.0, 1.0) == 5.0
    assert "compiled code cannot be kept on disk (there is no home folder)" in caplog.text
