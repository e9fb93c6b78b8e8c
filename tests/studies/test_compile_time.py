"""Compiling is told apart from simulating."""

from types import SimpleNamespace

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.cli.console import tell_time
from halfseen.studies import compile_time
from halfseen.studies.compile_time import CompileTime


def test_the_clock_runs_from_the_first_start_to_the_first_stop(monkeypatch):
    now = iter([10.0, 13.0, 20.0, 21.0])
    monkeypatch.setattr(compile_time.time, "perf_counter", lambda: next(now))
    clock = CompileTime()
    clock.start()
    clock.start()
    clock.stop()
    clock.stop()
    clock.start()
    assert (clock.taken(), clock.taken()) == (4.0, 0.0)


def test_a_study_keeps_the_time_of_compiling_apart():
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(1.0), UCB(), horizon=50, replications=2)
    plain = simulate(study, engine="reference")
    assert [facts["compiling"] for facts in plain.facts.values()] == [0.0]


def test_what_is_told_of_the_time(capsys, tmp_path):
    for compiling, told in (
        (22.04, "Compiled in 22.0 s, simulated in 0.2 s.\n"),
        (0.0, "Simulated"),
    ):
        result = SimpleNamespace(played=1, facts={"d": {"seconds": 0.2, "compiling": compiling}})
        tell_time(0.2, [result], tmp_path)
        assert capsys.readouterr().out.startswith(told)
