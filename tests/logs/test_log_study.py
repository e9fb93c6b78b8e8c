"""A log becomes a study: its delays too."""

import numpy as np
import pytest
from cli.test_cli_theory import run

from halfseen import Delayed, EmpiricalDelay, audit
from halfseen.logs.log_study import delays_of, study_of
from halfseen.studies.spec import read_spec

COLUMNS = {"action": "offer", "reward": "sold", "time": "at", "feedback_time": "back"}


def late_log(rows=4_000, seed=1):
    """Return a log of one decision in every second unit of time, its end cut off."""
    rng = np.random.default_rng(seed)
    arm, at = rng.integers(2, size=rows), 2.0 * np.arange(rows)
    delay = 2.0 * (rng.geometric(np.where(arm == 0, 1 / 51, 1 / 6)) - 1)
    came = (rng.random(rows) < np.where(arm == 0, 0.6, 0.9)) & (at + delay <= at[-1])
    back = [t if seen else None for t, seen in zip((at + delay).tolist(), came, strict=True)]
    sold = [float(rng.random() < 0.4) if seen else None for seen in came]
    return {"offer": ["ab"[k] for k in arm], "at": at.tolist(), "sold": sold, "back": back}


def test_the_delays_of_a_log_are_kaplan_meiers_in_rounds():
    late = delays_of(audit(late_log(), window=1_000, **COLUMNS))
    assert isinstance(late, Delayed)
    assert late.window == 500
    for law, (mean, arrive) in zip(late.laws, [(50, 0.6), (5, 0.9)], strict=True):
        assert isinstance(law, EmpiricalDelay)
        # Four standard errors of 2,000 decisions.
        assert law.arrive == pytest.approx(arrive, abs=4 * np.sqrt(arrive * (1 - arrive) / 2_000))
        assert np.mean(law.delays) == pytest.approx(mean, abs=4 * mean / np.sqrt(2_000 * arrive))


def test_a_study_of_a_log_without_times_of_feedback_has_rates():
    log = late_log(200)
    dates = {name: value for name, value in COLUMNS.items() if name != "feedback_time"}
    assert next(iter(study_of(audit(log, **dates)).censorships)) == "the log's rates"
    log["back"] = [None if t is None else at for t, at in zip(log["back"], log["at"], strict=True)]
    assert delays_of(audit(log, **COLUMNS)) is None


@pytest.mark.slow
def test_the_command_writes_the_delays_of_a_log(monkeypatch, capsys, tmp_path):
    log, spec = tmp_path / "log.csv", tmp_path / "spec.toml"
    columns = late_log(300)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
    log.write_text("\n".join([",".join(columns), *lines]))
    options = [word for k, v in COLUMNS.items() for word in (f"--{k.replace('_', '-')}", v)]
    code, _, err = run(monkeypatch, capsys, "audit", log, *options, "--study", spec)
    assert (code, err) == (0, "")
    assert "Means, noise and delays" in spec.read_text()
    late = read_spec(spec).censorships["the log's delays"]
    assert (len(late.laws), late.sends) == (2, "all")


def test_what_late_conversions_do_not_tell_is_said():
    log = late_log(400)
    for name in ("back", "sold"):
        log[name] = [
            v if sold == 1.0 else None for v, sold in zip(log[name], log["sold"], strict=True)
        ]
    (warning,) = [w for w in audit(log, **COLUMNS).warnings if w.kind == "one-value"]
    said = str(warning)
    assert "rate times probability of arrival: the two cannot be separated" in said
    assert "empty_means=0 if so, of decisions old enough to know (until=)" in said
