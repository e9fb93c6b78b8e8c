import json
import math

import numpy as np
import pytest
from scipy import stats

from halfseen.report.study.charts import arm_rows, figures, potential_rows, regret_rows
from halfseen.studies.result import Result
from halfseen.studies.study import Study

HORIZON, REPLICATIONS = 600, 40


def where(rows, **wanted):
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def positions(study):
    for j, censorship in enumerate(study.censorships):
        for k, policy in enumerate(study.policies):
            yield j, k, censorship, policy


def test_curves_are_means_with_95_percent_intervals(result):
    rows, bounded = regret_rows(result, 0)
    assert bounded == "UCB"
    for j, k, censorship, policy in positions(result.study):
        curve = where(rows, kind="policy", censorship=censorship, policy=policy)
        track = result.tracks["regret"][0, j, k]
        half = stats.t.ppf(0.975, REPLICATIONS - 1) * stats.sem(track)
        assert [row["round"] for row in curve] == result.study.rounds_recorded.tolist()
        assert [row["mean"] for row in curve] == pytest.approx(track.mean(axis=0), rel=1e-4)
        assert [row["half"] for row in curve] == pytest.approx(half, rel=1e-2)
        assert [row["mark"] for row in curve] == [0] * (len(curve) - 1) + [1]


def test_shares_and_pulls_are_those_of_the_last_round(result):
    rows = arm_rows(result, 0)
    for j, k, censorship, policy in positions(result.study):
        pulls = where(rows, kind="pulls", censorship=censorship, policy=policy)
        wanted = result.tracks["pulls"][0, j, k, :, -1].mean(axis=0)
        assert [row["pulls"] for row in pulls] == pytest.approx(wanted, rel=1e-4)
        if k == 0:
            seen = where(rows, kind="seen", censorship=censorship)
            counts = result.tracks["observations"][0, j, :, :, -1].sum(axis=(0, 1))
            total = result.tracks["pulls"][0, j, :, :, -1].sum(axis=(0, 1))
            assert [row["share"] for row in seen] == pytest.approx(counts / total, rel=1e-4)
            observe = list(result.study.censorships.values())[j].probabilities(3)
            assert [row["observe"] for row in seen] == pytest.approx(observe)
            assert [row["arm"] for row in seen] == ["0 (0.6)", "1 (0.5)", "2 (0.3)"]


@pytest.mark.parametrize("order", [0, 1])
def test_potentials_stand_next_to_their_exact_bound(result, order):
    alpha = result.study.alphas[order]
    rows = potential_rows(result, 0, order)
    for j, k, censorship, policy in positions(result.study):
        curve = where(rows, kind="policy", censorship=censorship, policy=policy)
        mean = result.tracks["potential"][0, j, k, :, :, order].mean(axis=0)
        assert [row["mean"] for row in curve] == pytest.approx(mean, rel=1e-4)
        bound = where(rows, kind="bound", censorship=censorship)
        assert len(bound) == len(curve)
        dimension = (1 / list(result.study.censorships.values())[j].probabilities(3)).sum()
        for row in bound:
            whole, part = divmod(row["round"] / dimension, 1)
            sums = sum((n + 1.0) ** -alpha for n in range(int(whole)))
            wanted = dimension * (sums + part * (whole + 1.0) ** -alpha)
            assert row["mean"] == pytest.approx(wanted, rel=1e-4)


@pytest.mark.slow
def test_charts_never_hold_replications(result):
    small = sum(len(json.dumps(figure.rows)) for figure in figures(result, 0))
    study = result.study
    many = Study(
        study.problems,
        study.censorships,
        study.policies,
        horizon=study.horizon,
        replications=10 * REPLICATIONS,
        checkpoints=study.checkpoints,
    )
    tracks = {name: np.repeat(array, 10, axis=3) for name, array in result.tracks.items()}
    large = sum(len(json.dumps(f.rows)) for f in figures(Result(many, tracks, {}), 0))
    assert large < 1.05 * small


def test_bounds_are_drawn_where_they_fit(result):
    rows, _ = regret_rows(result, 0)
    names = {row["policy"] for row in where(rows, kind="bound")}
    assert names == {"smallest bound", "paper’s bound"}
    for censorship in result.study.censorships:
        curve = where(rows, kind="bound", censorship=censorship, policy="smallest bound")
        measured = where(rows, kind="policy", censorship=censorship, policy="UCB")
        values = [row["mean"] for row in curve]
        assert values == sorted(values)
        assert all(v >= row["mean"] for v, row in zip(values, measured, strict=True))
        assert sum(row["mark"] for row in curve) == 1


@pytest.mark.slow
def test_a_panel_per_censorship_and_words_with_units(result):
    plain, log, corridor, seen, pulls, *potentials = figures(result, 0)
    assert len(potentials) == 2
    names = list(result.study.censorships)
    for figure in (plain, log, corridor, seen, pulls, *potentials):
        assert figure.spec["facet"]["sort"] == names
        assert figure.spec["data"] == {"name": figure.key}
        assert "five adverts" in figure.spec["title"]["text"]
        json.dumps(figure.still, allow_nan=False)
    text = json.dumps(plain.spec)
    assert "regret (reward lost so far)" in text
    assert '"round"' in text
    scale = next(layer["encoding"]["y"]["scale"] for layer in log.spec["spec"]["layer"])
    assert scale["type"] == "log"
    assert math.prod(scale["domain"]) > 0


@pytest.mark.slow
def test_colours_differ_and_dashes_help_where_they_run_out(result):
    before = result.study
    study = Study(
        before.problems,
        before.censorships,
        {f"policy {i}": before.policies["UCB"] for i in range(14)},
        horizon=HORIZON,
        replications=REPLICATIONS,
        checkpoints=before.checkpoints,
    )
    tracks = {n: np.repeat(a[:, :, :1], 14, axis=2) for n, a in result.tracks.items()}
    line = figures(Result(study, tracks, {}), 0)[0].spec["spec"]["layer"][1]["encoding"]
    colours, dashes = (line[look]["scale"]["range"] for look in ("color", "strokeDash"))
    assert len(set(zip(colours, map(tuple, dashes), strict=True))) == 14
