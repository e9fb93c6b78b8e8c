"""What changed between two audits is said where chance would not do it, and only there."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from cli.test_cli_theory import run
from scipy.stats import chi2_contingency, fisher_exact

from halfseen import InvalidInput, StorageError, audit, audit_by
from halfseen.logs.comparison import compare, read_audit, two_rates
from halfseen.logs.fail_if import read_threshold
from halfseen.logs.segment_comparison import compare_segments


def made(rates, n, seed):
    rng = np.random.default_rng(seed)
    arms = rng.choice(list(rates), n)
    seen = rng.random(n) < np.array([rates[arm] for arm in arms])
    return audit(
        {"offer": arms, "sold": np.where(seen, 1.0, np.nan)}, action="offer", reward="sold"
    )


def test_p_values_are_those_of_scipy():
    cells = [(50, 100, 70, 100), (3, 20, 9, 10), (0, 5, 0, 9), (900, 1000, 801, 1000)]
    k, n, seen, rows = (np.array(column, dtype=float) for column in zip(*cells, strict=True))
    found = two_rates(k, n, seen, rows)
    for i, (a, b, c, d) in enumerate(cells):
        table = [[a, b - a], [c, d - c]]
        expected = chi2_contingency(table).pvalue if i in (0, 3) else fisher_exact(table).pvalue
        assert found[i] == pytest.approx(expected, rel=1e-9)


def test_a_changed_rate_a_new_arm_and_the_factor_are_named():
    before = made({"a": 0.8, "b": 0.5, "old": 0.9}, 3000, 1)
    now = made({"a": 0.8, "b": 0.25, "new": 0.9}, 3000, 2)
    found = compare(now, before.to_dict())
    assert [change.arm for change in found.rates] == ["b", None]
    assert (found.new, found.vanished) == (("new",), ("old",))
    assert found.factor == pytest.approx(
        (before.effective_dimension.factor, now.effective_dimension.factor)
    )
    assert found.changes == 5
    assert "The share seen of “b” went from 49.3% to 27.4%" in str(found)
    assert "New: new. Gone: old." in str(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"empty_means": 0}, "empty_means left out then and 0 now"),
        ({"where": "sold = 1"}, "where left out then and 'sold = 1' now"),
        ({"drop_arms": ("b",)}, "drop_arms .* then and .*'b'.* now"),
        ({"observed": "known"}, "observed not named then and named now"),
    ],
)
def test_a_change_of_options_is_not_reported_as_a_change_of_the_log(options, said):
    log = {"offer": ["a", "b"] * 100, "sold": [1.0, None, None, 0.0] * 50, "known": [1, 0] * 100}
    before = audit(log, action="offer", reward="sold").to_dict()
    with pytest.raises(InvalidInput, match=said):
        compare(audit(log, action="offer", reward="sold", **options), before)


def test_the_same_rows_are_noticed():
    first, other = made({"a": 0.8, "b": 0.5}, 300, 1), made({"a": 0.8, "b": 0.5}, 300, 2)
    before = json.loads(json.dumps(first.to_dict()))
    assert "these seem to be the same rows" in str(compare(first, before))
    assert "the same rows" not in str(compare(other, before))


def test_nothing_is_named_if_nothing_changed():
    rates = {f"arm {i}": 0.02 + 0.09 * i for i in range(10)}
    pairs = [(made(rates, 1500, 2 * i), made(rates, 700, 2 * i + 1)) for i in range(3)]
    assert sum(compare(now, then.to_dict()).changes for then, now in pairs) == 0
    then, now = pairs[0]
    assert "Nothing changed beyond chance" in str(compare(now, then.to_dict()))


@pytest.mark.slow
def test_rates_that_did_not_change_are_named_once_in_a_thousand_comparisons():
    rng = np.random.default_rng(0)
    p = np.tile(np.linspace(0.01, 0.95, 20), 10_000)
    n, rows = rng.integers(5, 400, (2, len(p))).astype(float)
    k, seen = rng.binomial(n.astype(int), p), rng.binomial(rows.astype(int), p)
    far = two_rates(k[::50] * 1.0, n[::50], seen[::50] * 1.0, rows[::50])
    assert (far < 0.01).mean() < 0.01
    assert (far < 1e-3 / 20).sum() <= 2


def test_the_factor_of_the_arms_seen_is_compared_though_one_was_never_seen():
    never = made({"a": 0.5, "b": 0.0}, 300, 1)
    assert compare(made({"a": 0.5, "b": 0.0}, 300, 2), never.to_dict()).factor is None
    changed = made({"a": 0.2, "b": 0.0}, 300, 2)
    assert compare(changed, never.to_dict()).factor == pytest.approx(
        (never.dimension_of_seen.factor, changed.dimension_of_seen.factor)
    )


def waiting(end, scale, seed, **options):
    """Return the audit of a log that ends while rewards are on their way."""
    rng = np.random.default_rng(seed)
    n = 4000
    log = pd.DataFrame({"offer": rng.choice(["a", "b"], n), "time": rng.random(n) * 60})
    back = log.time + rng.exponential(scale, n)
    log["back"] = back.where((rng.random(n) < 0.7) & (back <= end))
    log["sold"] = np.where(log.back.notna(), rng.random(n), np.nan)
    names = {"action": "offer", "reward": "sold", "time": "time", "feedback_time": "back"}
    return audit(log, **names, now=end, **options)


def test_rewards_still_on_their_way_are_no_change_of_rate():
    old, now = waiting(200, 7.0, 1), waiting(60, 7.0, 2)
    assert old.seen / old.rows - now.seen / now.rows > 0.05
    assert compare(now, old.to_dict()).changes == 0


def test_rates_within_different_windows_are_not_compared():
    old, now = waiting(200, 60.0, 1), waiting(60, 60.0, 2)
    with pytest.raises(InvalidInput, match=r"within the same window.*window="):
        compare(now, old.to_dict())
    old, now = waiting(200, 60.0, 1, window=20), waiting(60, 60.0, 2, window=20)
    assert compare(now, old.to_dict()).changes == 0


def test_a_shortened_audit_says_that_it_cannot_tell_new_arms():
    before = made({"a": 0.8, "b": 0.5}, 300, 1)
    found = compare(before, before.to_dict(most=1))
    assert (found.new, found.vanished) == (None, None)
    assert "does not list all arms" in str(found)


@pytest.mark.parametrize(
    "text", ["factor", "factor=2", "size>1", "changes>0", "factor>x", "factor>1;"]
)
def test_thresholds_that_cannot_be_read(text):
    with pytest.raises(InvalidInput, match="--fail-if"):
        read_threshold(text, False)


def test_thresholds():
    found = made({"a": 0.5, "b": 0.0}, 300, 1)
    assert "factor is 1." in read_threshold("factor>1.5", False).crossed(found, None)
    assert read_threshold("factor>3", False).crossed(found, None) is None
    nothing = made({"a": 0.0}, 30, 1)
    assert "factor is infinite" in read_threshold("factor>2", False).crossed(nothing, None)
    assert read_threshold("never_seen >= 2", False).crossed(found, None) is None
    assert read_threshold("seen < 50%", False).crossed(found, None) is not None


@pytest.mark.slow
def test_the_command_ends_with_3_where_a_threshold_is_crossed(monkeypatch, capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("offer,sold\n" + "a,1\na,\nb,2\n" * 20)
    options = ("audit", log, "--action", "offer", "--reward", "sold")
    code, out, err = run(monkeypatch, capsys, *options, "--fail-if", "factor>1.4")
    assert (code, err) == (3, "halfseen: factor is 1.5, and must not be > 1.4.\n")
    assert "You see 67%" in out
    assert run(monkeypatch, capsys, *options, "--fail-if", "factor>2")[0] == 0
    assert run(monkeypatch, capsys, *options, "--fail-if", "fact>2")[0] == 2
    (tmp_path / "last.json").write_text(json.dumps({"rows": 1}))
    code, out, err = run(monkeypatch, capsys, *options, "--compare", tmp_path / "last.json")
    assert (code, out) == (2, "")
    assert "`--compare` must be an audit" in err
    with pytest.raises(StorageError, match=r"No such"):
        compare(made({"a": 0.5}, 9, 1), tmp_path / "none.json")


@pytest.mark.slow
def test_a_study_of_the_log_runs(monkeypatch, capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("offer,sold\n" + "a,1\na,\nb,0\nb,1\nc,\n" * 20)
    spec = tmp_path / "spec.toml"
    options = ("audit", log, "--action", "offer", "--reward", "sold", "--study", spec)
    code, _, err = run(monkeypatch, capsys, *options)
    assert (code, err) == (0, "")
    assert "# Left out, since no reward was seen: c." in spec.read_text()
    code, out, err = run(monkeypatch, capsys, "study", spec, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    rows = json.loads(out)["summary"]
    assert [row["censorship"] for row in rows] == ["the log's rates", "everything seen"]
    assert rows[0]["effective dimension"] == pytest.approx(3.0)
    code, _, err = run(monkeypatch, capsys, *options)
    assert (code, "must be a new file" in err) == (2, True)


def test_rewards_that_never_vary_make_a_study_too():
    found = audit(
        {"offer": ["a", "a", "b"], "sold": [3.0, 3.0, 4.0]}, action="offer", reward="sold"
    )
    from halfseen.logs.log_study import study_toml
    from halfseen.studies.spec import parse_spec

    assert parse_spec(study_toml(found)).horizon == 3


def test_an_audit_of_another_version_of_the_schema_is_refused(tmp_path):
    file = tmp_path / "audit.json"
    file.write_text('{"schema_version": 99, "rates": []}')
    with pytest.raises(InvalidInput, match="must be an audit with schema_version 1; got '99 in"):
        read_audit(file)


def in_time(first, last, seed, rate=0.7):
    rng = np.random.default_rng(seed)
    time = np.sort(rng.choice(np.arange(first, last), 400, replace=False))
    sold = np.where(rng.random(400) < rate, rng.random(400) < 0.5, np.nan)
    rows = {"t": time, "a": ["x", "y"] * 200, "r": sold, "land": ["de", "fr"] * 200}
    return pd.DataFrame(rows)


def test_periods_that_overlap_are_named_with_what_to_do():
    columns = {"action": "a", "reward": "r", "time": "t"}
    old, new = in_time(0, 900, 1), in_time(1000, 1900, 2)
    before = json.loads(json.dumps(audit(old, **columns).to_dict()))
    grown = compare(audit(pd.concat([old, new]), **columns), before)
    last = old["t"].max()
    assert grown.overlap == (old["t"].min(), last)
    assert f"Then audit the new part (since={last + 1})." in grown.findings[0]
    assert "Nothing changed beyond chance." in grown.findings
    apart = compare(audit(new, **columns), before)
    assert apart.overlap is None
    assert "Both audits have" not in str(apart)
    dated = new.assign(t=pd.Timestamp("2026-01-01") + pd.to_timedelta(new["t"], unit="D"))
    found = audit(dated, **columns)
    same = compare(found, found.to_dict())
    start = re.search(r'since="(.*)"', same.findings[0])[1]
    with pytest.raises(InvalidInput, match="must leave at least one row"):
        audit(dated, **columns, since=start)


def test_segments_are_compared_one_by_one():
    columns = {"action": "a", "reward": "r"}
    first, second = in_time(0, 900, 1), in_time(0, 900, 2)
    second.loc[second["land"] == "fr", "r"] = np.where(np.arange(200) % 5, np.nan, 1.0)
    before = audit_by(first, "land", **columns)
    then = json.loads(json.dumps(before.to_dict()))
    found = compare_segments(audit_by(second, "land", **columns), then)
    assert found.whole.changes > 0
    assert found.parts["fr"].changes > 0
    assert found.parts["de"].changes == 0
    assert found.parts["de"].level == pytest.approx(1e-3 / 3)
    assert "In “fr”: The share seen of" in str(found)
    assert "In “de”" not in str(found)
    assert set(found.to_dict()["segments"]) == {"de", "fr"}
    moved = audit_by(second.assign(land="it"), "land", **columns)
    assert compare_segments(moved, then).findings[:2] == (
        "New segments: it.",
        "Segments gone: de, fr.",
    )
    with pytest.raises(InvalidInput, match="by the same column, land; got 'one of all rows'"):
        compare_segments(before, audit(first, **columns).to_dict())
    with pytest.raises(InvalidInput, match="one by a"):
        compare_segments(before, audit_by(first, "a", **columns).to_dict())
