"""Results: named axes, a summary that agrees with numpy, a folder that gives everything back."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from example_studies import MEANS, broad_study, small_study
from scipy import stats

from halfseen import (
    UCB,
    ArmedBandit,
    FixedArms,
    InvalidInput,
    PerArm,
    Result,
    StorageError,
    Uniform,
    simulate,
)


@pytest.fixture(scope="module")
def result():
    return simulate(small_study(replications=6), engine="reference")


def test_axes_and_coordinates(result):
    data = result.data
    assert data.regret.dims == ("problem", "censorship", "policy", "replication", "checkpoint")
    assert data.pulls.dims[-1] == "arm"
    assert data.potential.dims[-1] == "alpha"
    assert data.censorship.values.tolist() == ["some", "everything seen"]
    assert data.policy.values.tolist() == ["plain", "coin", "wrong"]
    assert data.checkpoint.values.tolist() == result.study.rounds_recorded.tolist()
    assert json.loads(data.attrs["study"]) == result.study.to_dict()
    assert json.loads(data.attrs["versions"])["numpy"] == np.__version__
    assert np.all(data.seconds.values > 0)


def test_tracks_hang_together(result):
    data = result.data
    rounds = result.study.rounds_recorded
    assert np.all(data.pulls.sum("arm").values == rounds)
    assert np.all(data.observations <= data.pulls)
    gaps = np.array(MEANS).max() - np.array(MEANS)
    assert np.allclose(data.regret, (data.pulls * gaps).sum("arm"))
    seen = data.sel(censorship="everything seen")
    assert np.array_equal(seen.observations, seen.pulls)
    assert set(np.unique(data.optimism_failed.sel(policy="coin"))) == {-1}


def test_data_shares_memory_with_the_tracks(result):
    assert np.shares_memory(result.data.regret.values, result.tracks["regret"])


def test_summary_agrees_with_numpy(result):
    records = {(r["censorship"], r["policy"]): r for r in result.summary()}
    assert len(records) == 6
    whole = {}
    for (censorship, policy), record in sorted(records.items()):  # "everything seen" comes first
        final = result.data.regret.sel(problem="arms", censorship=censorship, policy=policy)[:, -1]
        final = final.values
        whole.setdefault(policy, final.mean())
        assert record["regret"] == pytest.approx(np.mean(final))
        error = math.sqrt(np.sum((final - final.mean()) ** 2) / 5) / math.sqrt(6)
        assert record["± 95%"] == pytest.approx(stats.t.ppf(0.975, final.size - 1) * error)
        assert record["factor"] == pytest.approx(np.mean(final) / whole[policy])
        seen = result.data.observations.sel(censorship=censorship, policy=policy)[0, :, -1]
        assert record["share seen"] == pytest.approx(seen.sum("arm").mean().item() / 60)
        assert record["arms"] == 3
    assert records["some", "plain"]["effective dimension"] == pytest.approx(1 / 0.3 + 1 / 0.9 + 1)
    assert records["everything seen", "plain"]["effective dimension"] == 3.0
    assert records["everything seen", "plain"]["factor"] == 1.0


def test_summary_without_what_it_needs():
    one = simulate(small_study(replications=1, baseline=False), engine="reference")
    assert {record["± 95%"] for record in one.summary()} == {None}
    assert {record["factor"] for record in one.summary()} == {None}
    equal = small_study(problems=ArmedBandit([0.5, 0.5, 0.5]), replications=2)
    assert {r["factor"] for r in simulate(equal, engine="reference").summary()} == {None}


def test_summary_counts_only_playable_arms():
    problem = ArmedBandit(MEANS, actions=FixedArms([0, 2]))
    study = small_study(problems=problem, policies=UCB())
    record = simulate(study, engine="reference").summary().records()[0]
    assert record["arms"] == 2
    assert record["effective dimension"] == pytest.approx(1 / 0.3 + 1)


def test_summary_is_plain_and_survives_json():
    study = small_study(censorships=Uniform(1e-300), problems=ArmedBandit([1e100, -1e100, 0]))
    records = simulate(study, engine="reference").summary().records()
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert {type(value) for record in records for value in record.values()} <= {
        str,
        float,
        int,
        type(None),
    }


def test_problems_with_fewer_arms_have_no_pulls_of_the_others():
    study = small_study(
        problems={"two": ArmedBandit([0.5, 0.4]), "three": ArmedBandit(MEANS)},
        censorships=Uniform(0.5),
        policies=UCB(),
    )
    data = simulate(study, engine="reference").data
    assert data.pulls.sizes["arm"] == 3
    assert np.all(data.pulls.sel(problem="two")[..., 2] == 0)


def test_saving_and_loading_give_every_array_back(tmp_path):
    study = broad_study()
    few = {name: study.policies[name] for name in ("ucb", "imed", "random")}
    result = simulate(replace(study, policies=few), engine="reference")
    result.save(tmp_path / "kept")
    again = Result.load(tmp_path / "kept")
    assert again.study == result.study
    assert again.facts == result.facts
    assert again.data.identical(result.data)
    for name, array in result.tracks.items():
        assert again.tracks[name].dtype == array.dtype
        assert np.array_equal(again.tracks[name], array), name
    again.save(tmp_path / "kept")  # over itself
    assert Result.load(tmp_path / "kept").data.identical(result.data)


def test_saving_over_something_else_is_refused(tmp_path, result):
    other = simulate(small_study(seed=9, policies=UCB()), engine="reference")
    other.save(tmp_path / "kept")
    before = {p: p.read_bytes() for p in (tmp_path / "kept").rglob("*") if p.is_file()}
    with pytest.raises(InvalidInput, match="holds another study's results"):
        result.save(tmp_path / "kept")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("")
    with pytest.raises(InvalidInput, match="holds other files"):
        result.save(tmp_path / "photos")
    with pytest.raises(InvalidInput, match="must be a folder"):
        result.save(tmp_path / "photos" / "a.jpg")
    assert {p: p.read_bytes() for p in (tmp_path / "kept").rglob("*") if p.is_file()} == before
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["a.jpg"]


def test_loading_what_is_not_there(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(StorageError, match=r"holds no study. Run `halfseen study SPEC --out"):
            Result.load(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        Result.load(tmp_path / "file")


def test_a_study_too_large_for_memory_is_a_sentence():
    study = small_study(replications=2**31, checkpoints=10**4, horizon=2**48)
    with pytest.raises(InvalidInput, match=r"`Study` must fit in memory; got .*Lower replications"):
        simulate(study)


def test_censorship_of_ones_is_the_baseline():
    study = small_study(censorships={"half": Uniform(0.5), "ones": PerArm([1, 1, 1])})
    records = simulate(study, engine="reference").summary().records()
    assert {r["factor"] for r in records if r["censorship"] == "ones"} == {1.0}
