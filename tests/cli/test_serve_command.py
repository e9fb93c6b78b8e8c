"""The command: first key, keys, check, SIGTERM, refusals in sentences."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from halfseen import Client
from halfseen.cli import app
from halfseen.errors import HalfseenError, InvalidInput, StorageError

LOOPS = """
[loops.offers]
arms = ["red", "blue"]
policy = { kind = "ucb" }
noise = 0.5
window = 60
"""


@contextmanager
def process(folder, *arguments):
    """Start the command; give the process, its address and the key it printed."""
    command = [sys.executable, "-m", "halfseen", "serve", "--port", "0", *arguments]
    running = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = ""
        while "serves http" not in said:
            line = running.stdout.readline()
            assert line, said + running.stderr.read()
            said += line
        address = re.search(r"serves (\S+)", said)[1]
        key = re.search(r"hs_\S+", said)
        yield running, address, key and key[0]
    finally:
        running.kill()
        running.communicate()


def command(*arguments):
    """Run the command in this process; errors are raised."""
    return app([*arguments], standalone_mode=False)


@pytest.mark.slow
def test_serve_prints_address_and_first_key_drains_on_sigterm_and_starts_again(tmp_path, capsys):
    (tmp_path / "loops.toml").write_text(LOOPS)
    database = tmp_path / "halfseen.sqlite"
    with process(tmp_path, "--loops", "loops.toml") as (running, address, key):
        with Client(address, key) as client:
            decision = client.decide("offers", id="x")
        command("serve", "keys", "issue", "shop", "--database", str(database), "--json")
        issued = json.loads(capsys.readouterr().out)
        with Client(address, issued["key"]) as client:
            assert client.decide("offers", id="x") == decision
        with pytest.raises(StorageError, match="is served by another process"):
            command("serve", "forget", "x", "--database", str(database))
        running.send_signal(signal.SIGTERM)
        _, lines = running.communicate(timeout=60)
        assert running.returncode == 0
        kinds = [json.loads(line)["kind"] for line in lines.splitlines()]
        assert kinds == ["decide", "decide"]
    command("serve", "--check", "--database", str(database))
    assert "agree with a replay" in capsys.readouterr().out
    command("serve", "keys", "revoke", issued["id"], "--database", str(database))
    command("serve", "keys", "list", "--database", str(database))
    said = capsys.readouterr().out
    assert re.search(rf"{issued['id']}\s+shop\s+decide\s.*UTC.*UTC", said)
    assert issued["key"][-20:] not in said
    command("serve", "forget", "x", "--database", str(database))
    assert "is forgotten" in capsys.readouterr().out
    with process(tmp_path, "--loops", "loops.toml") as (_, address, again):
        assert again is None  # there are keys already
        assert httpx.get(f"{address}/readyz").json() == {"status": "ready"}


@pytest.mark.postgres
@pytest.mark.filterwarnings("ignore")
def test_serve_starts_on_postgresql_twice_and_a_second_process_beside_it(tmp_path, address):
    (tmp_path / "loops.toml").write_text(LOOPS)
    told = ("--database", address, "--loops", "loops.toml")
    with process(tmp_path, *told) as (running, first, key):
        with process(tmp_path, *told) as (_, second, other_key):
            assert other_key is None
            with Client(first, key) as one, Client(second, key) as other:
                decision = one.decide("offers", id="x")
                assert other.decide("offers", id="x") == decision
                other.outcome(decision, 1.0)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        assert running.returncode == 0
    with process(tmp_path, "--database", address) as (_, again, _), Client(again, key) as client:
        assert client.loop("offers")["observed"] == 1


def test_without_keys_only_this_machine_is_served(tmp_path):
    with pytest.raises(InvalidInput, match="where others can reach the service"):
        command("serve", "--open", "--host", "0.0.0.0", "--database", str(tmp_path / "x.sqlite"))
    assert not (tmp_path / "x.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[loops.a]\nwindow = 5", r"loops\.a\."),
        ("[loops.a]\narms = 'x'", r"loops\.a\.arms"),
        ("x = 1", r"\[loops.NAME\]"),
        ("loops = 3", r"\[loops.NAME\]"),
        ("[loops", "must be TOML"),
    ],
)
def test_a_bad_file_of_loops_is_refused_before_anything_is_written(tmp_path, content, said):
    file, database = tmp_path / "loops.toml", tmp_path / "x.sqlite"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=said):
        command("serve", "--loops", str(file), "--database", str(database))
    assert not database.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--port", "70000"),
        ("--loops", "none.toml"),
        ("keys", "issue", "x", "--role", "root"),
        ("keys", "revoke", "none"),
        ("archive", "out", "--days", "-1"),
        ("forget", "none"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HalfseenError):
        command("serve", *arguments)


def test_the_loops_of_the_how_to_are_loops():
    from pathlib import Path

    from halfseen.service.loop_files import parse_loops

    page = Path(__file__).parents[2] / "docs" / "how-to" / "run-it-for-real.md"
    text = re.search(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)[1]
    loops = {loop.name: loop for loop in parse_loops(text)}
    assert loops["offers"].window == 86400
    assert loops["articles"].dimension == 16


def test_a_port_that_is_taken_is_a_sentence(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(StorageError, match="Cannot listen on"):
            command("serve", "--port", port, "--database", str(tmp_path / "x.sqlite"))


@pytest.mark.slow
def test_without_the_extra_the_command_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "sys.argv = ['halfseen', 'serve']\n"
        "from halfseen.cli import main; main()"
    )
    environment = {k: v for k, v in os.environ.items() if k != "HALFSEEN_DEBUG"}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert ended.returncode == 2
    assert "pip install 'halfseen[serve]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_help_of_serve_loads_no_server():
    code = (
        "import sys; sys.argv = ['halfseen', 'serve', '--help']\n"
        "from halfseen.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('loaded:', *{'fastapi', 'uvicorn', 'sqlalchemy', 'numpy'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout.splitlines()[-1] == "loaded:"


def test_serve_imports_modules_with_policies_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies_of_the_shop.py").write_text("")
    with pytest.raises(InvalidInput, match="--port"):
        command("serve", "--import", "policies_of_the_shop", "--port", "99999")
    assert sys.modules.pop("policies_of_the_shop")
    with pytest.raises(InvalidInput, match="--import"):
        command("serve", "--import", "no_such_policies")


def test_a_database_named_before_a_subcommand_is_the_one_it_uses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command("serve", "--database", "mine.sqlite", "keys", "issue", "shop", "--json")
    issued = json.loads(capsys.readouterr().out)
    assert not (tmp_path / "halfseen.sqlite").exists()
    command("serve", "--database", "mine.sqlite", "keys", "list")
    assert issued["id"] in capsys.readouterr().out
    command("serve", "--database", "other.sqlite", "keys", "list", "--database", "mine.sqlite")
    assert issued["id"] in capsys.readouterr().out
    with pytest.raises(InvalidInput, match="`ID` must be a decision of the log"):
        command("serve", "--database", "mine.sqlite", "forget", "x")


def test_options_of_the_service_before_a_subcommand_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in (("--port", "9000"), ("--open",), ("--loops", "demo")):
        with pytest.raises(InvalidInput, match=rf"`{option[0]}` is for the service itself"):
            command("serve", *option, "keys", "list")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", [("list",), ("revoke", "x")])
def test_keys_of_a_database_that_is_not_there_make_none(tmp_path, what):
    path = tmp_path / "typo.sqlite"
    with pytest.raises(
        StorageError, match=r"no database \S+typo.sqlite. Name yours with --databas"
    ):
        command("serve", "keys", *what, "--database", str(path))
    assert list(tmp_path.iterdir()) == []


def test_refusals_of_the_service_say_what_to_do(tmp_path):
    (tmp_path / "loops.toml").write_text("[loops.a]\nfloor = .05")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    place = str(tmp_path)
    for arguments, said in (
        (("--database", place), r"must be a file, not a folder; .* Name a file in it, as"),
        (("--database", f"{place}/none/x.sqlite"), "Make the folder first"),
        (
            ("--loops", f"{place}/none.toml"),
            r"none.toml: No such file or directory. Check the path",
        ),
        (("--loops", f"{place}/latin.toml"), "`--loops` must be a UTF-8 text file; .* Save it as"),
        (
            ("--loops", f"{place}/loops.toml"),
            r"`--loops` must be TOML; got 'floor = .05'. .*line 2.* Correct that line: write 0.5",
        ),
    ):
        with pytest.raises(HalfseenError, match=said):
            command("serve", *arguments)


def test_the_option_of_a_subcommand_is_named_as_it_was_typed(tmp_path, monkeypatch):
    words = ["serve", "keys", "issue", "x", "--role", "boss", "--database", str(tmp_path / "x")]
    monkeypatch.setattr(sys, "argv", ["halfseen", *words])
    with pytest.raises(InvalidInput, match="`--role` must be one of decide, report, admin"):
        command(*words)
