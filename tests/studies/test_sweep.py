"""A sweep is the same study at several values of one number."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    GeometricDelay,
    InvalidInput,
    PerArm,
    Study,
    Uniform,
    read_spec,
    read_sweep,
    simulate,
    sweep,
)
from halfseen.cli import app
from halfseen.studies.sweep import Sweep
from halfseen.studies.swept_number import varied

pytestmark = pytest.mark.usefixtures("blank_pictures")

STUDY = Study(
    ArmedBandit([0.6, 0.5]),
    {"half": Uniform(0.5), "shops": PerArm([0.3, 0.9])},
    {"UCB": UCB(), "other": UCB(regularization=2.0)},
    horizon=100,
    replications=10,
)


def test_every_value_is_the_study_with_that_value():
    found = sweep(STUDY, "censorships.half.observe", [0.2, 0.9], engine="reference")
    for value, result in zip(found.values, found.results, strict=True):
        expected = Study(
            STUDY.problems,
            {"half": Uniform(value)},
            STUDY.policies,
            horizon=100,
            replications=10,
            baseline=False,
        )
        assert result.study.to_dict() == expected.to_dict()
        again = simulate(expected, engine="reference")
        assert np.array_equal(result.tracks["regret"], again.tracks["regret"])
    assert found.coordinate == "observe"
    assert found.data["regret"].dims[0] == "observe"
    assert found.data["regret"].sel(observe=0.9).shape == (1, 1, 2, 10)
    assert len(found.summary()) == 4


@pytest.mark.parametrize(
    ("path", "value", "changed"),
    [
        ("horizon", 50, lambda s: s.horizon),
        ("seed", 7, lambda s: s.seed),
        ("policies.other.regularization", 0.5, lambda s: s.policies["other"].regularization),
        ("policies.*.regularization", 0.5, lambda s: s.policies["UCB"].regularization),
        ("censorships.*.observe", 0.25, lambda s: s.censorships["half"].observe),
        ("censorships.shops.observe.1", 0.25, lambda s: s.censorships["shops"].observe[1]),
        ("problems.*.means.0", 0.25, lambda s: next(iter(s.problems.values())).means[0]),
    ],
)
def test_a_path_sets_one_number(path, value, changed):
    study = STUDY
    if path == "censorships.*.observe":
        study = Study(ArmedBandit([0.6, 0.5]), {"half": Uniform(0.5)}, UCB(), horizon=10)
    assert changed(varied(study, path, value)) == value


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("problems.*.means.0", "means[0]"),
        ("censorships.shops 1.0.observe.1", "observe[1]"),
        ("censorships.late.laws.1.arrive", "laws[1].arrive"),
        ("censorships.half 2.0.observe", "observe"),
    ],
)
def test_an_entry_of_a_list_keeps_its_place_in_column_coordinate_and_titles(path, name, tmp_path):
    laws = [GeometricDelay(5), GeometricDelay(9)]
    worlds = {"half 2.0": Uniform(0.5), "shops 1.0": PerArm([0.3, 0.9])}
    worlds |= {"late": Delayed(laws, window=9)}
    study = Study(ArmedBandit([0.6, 0.5]), worlds, UCB(), horizon=9, replications=2)
    found = sweep(study, path, [0.2, 0.4], engine="reference")
    assert (found.coordinate, found.summary().columns[0]) == (name, name)
    assert found.data["regret"].sel({name: 0.4}).dims[-1] == "replication"
    assert f"<h1>Regret against {name}</h1>" in found.report(tmp_path).read_text()
    assert read_sweep(tmp_path / "spec.toml")[1] == path


def test_the_baseline_does_not_follow_a_star():
    study = Study(ArmedBandit([0.6, 0.5]), {"half": Uniform(0.5)}, UCB(), horizon=10)
    assert list(varied(study, "censorships.*.observe", 0.1).censorships) == ["half"]


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("observe", [0.1], "`path` must name a number of the study"),
        (3, [0.1], "`path` must name a number of the study"),
        ("censorships.hlaf.observe", [0.1], "Use one of: censorships.half.observe"),
        ("censorships.shops.observe", [0.1], "Add its place: censorships.shops.observe.0"),
        ("censorships.shops.observe.2", [0.1], "must name an entry that exists"),
        ("censorships.shops.observe.²", [0.1], "Add its place: censorships.shops.observe.0"),
        ("censorships.half.observe", [0.1, 0.1], "`values` must differ from each other"),
        ("censorships.half.observe", [], "`values` must not be empty"),
        ("censorships.half.observe", [1.5], "observe` must be a finite number"),
        ("horizon", [0.5], "`Study.horizon` must be a whole number"),
    ],
)
def test_wrong_paths_and_values_are_refused_before_anything_is_played(
    path, values, message, tmp_path
):
    with pytest.raises(InvalidInput, match=message):
        sweep(STUDY, path, values, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sweep_in_a_folder_goes_on_where_it_stopped(tmp_path):
    def stop(done, total, label):
        if done > total / 2:
            raise KeyboardInterrupt

    path, values = "censorships.half.observe", [0.2, 0.9]
    with pytest.raises(KeyboardInterrupt):
        sweep(STUDY, path, values, out=tmp_path, engine="reference", progress=stop)
    assert len(list(tmp_path.rglob("cell.json"))) >= 2
    found = sweep(STUDY, path, values, out=tmp_path, engine="reference")
    again = sweep(STUDY, path, values, engine="reference")
    assert np.array_equal(found.data["regret"], again.data["regret"])


def test_the_slope_of_a_power_law_is_its_power():
    found = sweep(STUDY, "censorships.half.observe", [0.1, 0.2, 0.8], engine="reference")
    base = np.random.default_rng(1).gamma(2.0, 3.0, size=10)
    for value, result in zip(found.values, found.results, strict=True):
        result.tracks["regret"][..., -1] = base / np.sqrt(value)
    for row in found.slope():
        assert row["slope"] == pytest.approx(-0.5)
        assert row["± 95%"] == pytest.approx(0.0, abs=1e-12)


def test_a_seed_has_no_slope(tmp_path):
    found = sweep(STUDY, "seed", [1, 2], engine="reference")
    with pytest.raises(
        InvalidInput, match=r"`Sweep\.path` must be a number that regret depends on"
    ):
        found.slope()
    assert 'id="slope"' not in found.report(tmp_path).read_text()


def test_a_sweep_of_replications_has_a_summary_and_a_page_but_no_common_data(tmp_path):
    found = sweep(STUDY, "replications", [2, 5], engine="reference")
    said = r"`Sweep\.data` must have as many replications at every value.*Use summary\(\)"
    with pytest.raises(InvalidInput, match=said):
        _ = found.data
    assert len(found.summary()) == 12
    assert [result.data.sizes["replication"] for result in found.results] == [2, 5]
    assert found.report(tmp_path).exists()
    assert sweep(STUDY, "replications", [3], engine="reference").data.sizes["replications"] == 1


def test_a_sweep_shows_itself():
    found = sweep(STUDY, "horizon", [50, 100], engine="reference")
    assert repr(found) == "<Sweep: horizon over (50, 100); see .summary(), .slope(), .plot()>"
    assert found._repr_html_().count("<tr>") == 1 + 2 * 3 * 2
    assert found.plot().to_dict()["config"]


@pytest.mark.slow
@pytest.mark.parametrize("censorships", [Uniform(1.0), STUDY.censorships])
def test_the_chart_of_a_sweep_can_be_drawn_of_one_world_and_of_several(censorships, tmp_path):
    study = Study(
        ArmedBandit([0.6, 0.5]), censorships, UCB(), baseline=False, horizon=60, replications=4
    )
    path = "censorships.*.observe" if isinstance(censorships, Uniform) else "horizon"
    found = sweep(study, path, [0.5, 1.0] if path != "horizon" else [30, 60], engine="reference")
    found.plot().save(tmp_path / "sweep.svg")
    assert "<svg" in (tmp_path / "sweep.svg").read_text()


def test_the_page_names_one_best_policy_only_where_it_is_clear_and_copies_the_spec(tmp_path):
    found = sweep(STUDY, "horizon", [50, 100], engine="reference")
    for result in found.results:
        result.tracks["regret"][0, 0, :, :, -1] = np.array([[73.65], [90.0]]) + np.arange(10.0)
    result.tracks["regret"][0, 0, 1, :, -1] -= 14.0 + 8.0 * (np.arange(10) % 2)
    page = found.report(tmp_path).read_text().replace("\u00a0", " ")
    assert "UCB loses least, 78.2 ± 2.2 at horizon 50; other or UCB loses least, 76.5 ± " in page
    assert '<button type="button" class="copy"' in page


SPEC = """
horizon = 60
replications = 6
problems.offers = { kind = "arms", means = [0.6, 0.5] }
censorships.some = { kind = "uniform", observe = 0.5 }
policies.UCB = { kind = "ucb" }
policies.other = { kind = "ucb", regularization = 2.0 }

[sweep]
number = "censorships.some.observe"
values = [0.1, 0.5, 1.0]
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(SPEC)
    return path


def test_a_spec_names_the_number_and_its_values(spec):
    study, number, values = read_sweep(spec)
    assert (number, values) == ("censorships.some.observe", [0.1, 0.5, 1.0])
    assert study == read_spec(spec)
    assert study.horizon == 60


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "`sweep` is missing.*Add .sweep. with number"),
        ('[sweep]\nnumbr = "horizon"\nvalues = [1]', "`sweep.numbr`.*Did you mean 'number'"),
        ('[sweep]\nnumber = "horizon"', "`sweep.values` is missing"),
        ('[sweep]\nnumber = "horizon"\nvalues = "1"', "`sweep.values` must be a list of numbers"),
        ('[sweep]\nnumber = "horizon"\nvalues = ["a"]', "`sweep.values.0` must be a"),
        ("[sweep]\nnumber = 3\nvalues = [1]", "`sweep.number` must be text"),
    ],
)
def test_a_wrong_table_is_named_with_its_fix(tmp_path, table, said):
    path = tmp_path / "wrong.toml"
    path.write_text(SPEC.partition("[sweep]")[0] + table)
    with pytest.raises(InvalidInput, match=said):
        read_sweep(path)


def test_the_page_of_a_sweep_holds_chart_slopes_numbers_and_a_spec_that_repeats_it(spec, tmp_path):
    found = sweep(*read_sweep(spec), engine="reference")
    page = found.report(tmp_path / "page").read_text()
    assert "<h1>Regret against observe</h1>" in page
    for name in ("slope", "numbers", "again"):
        assert f'<section id="{name}">' in page
    assert (tmp_path / "page/charts/sweep.svg").exists()
    again = sweep(*read_sweep(tmp_path / "page/spec.toml"), engine="reference")
    assert again.summary() == found.summary()
    assert (tmp_path / "page/summary.csv").read_text() == found.summary().to_csv()


def test_the_command_plays_a_sweep_and_leaves_a_page_of_the_same_numbers(spec, tmp_path):
    out = tmp_path / "out"
    command = ["study", str(spec), "--out", str(out), "--engine", "reference"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "Regret against censorships.some.observe" in first.output
    assert "Slope of log regret against log observe" in first.output
    written = (out / "report.html").stat().st_mtime_ns
    again = CliRunner().invoke(app, [*command, "--json"])
    assert (out / "report.html").stat().st_mtime_ns == written
    told = json.loads(again.stdout)
    assert told["values"] == [0.1, 0.5, 1.0]
    assert len(told["summary"]) == 6
    assert len(told["slope"]) == 2


@pytest.mark.parametrize("option", [["--summary"], ["--horizon", "9"]])
def test_options_that_a_sweep_cannot_follow_are_refused(spec, tmp_path, option):
    text = SPEC.replace("censorships.some.observe", "horizon").replace("0.1, 0.5, 1.0", "5, 10")
    spec.write_text(text)
    ended = CliRunner().invoke(app, ["study", str(spec), "--out", str(tmp_path / "o"), *option])
    assert isinstance(ended.exception, InvalidInput)
    assert ended.exception.field == option[0]
    assert not (tmp_path / "o").exists()


def _files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_sweep_is_not_written_over_files_that_are_not_its_own(spec, tmp_path):
    design = read_sweep(spec)
    before = _files(tmp_path)
    with pytest.raises(InvalidInput, match="`out` must be a new or empty folder"):
        sweep(*design, out=tmp_path, engine="reference")
    found = sweep(*design, engine="reference")
    with pytest.raises(InvalidInput, match="`out` must be a new or empty folder"):
        found.report(tmp_path)
    assert _files(tmp_path) == before


def test_a_sweep_is_not_written_over_a_study_or_another_sweep(spec, tmp_path):
    study, number, values = read_sweep(spec)
    simulate(study, out=tmp_path / "study", engine="reference")
    sweep(study, number, values[:1], out=tmp_path / "sweep", engine="reference")
    before = _files(tmp_path)
    with pytest.raises(InvalidInput, match="holds other files"):
        sweep(study, number, values, out=tmp_path / "study", engine="reference")
    for other in ((study, "horizon", [5]), (varied(study, "seed", 3), number, values)):
        with pytest.raises(InvalidInput, match="holds another sweep's results"):
            sweep(*other, out=tmp_path / "sweep", engine="reference")
        found = sweep(*other, engine="reference")
        with pytest.raises(InvalidInput, match="holds another sweep's results"):
            found.report(tmp_path / "sweep")
        with pytest.raises(InvalidInput, match="holds a study's results"):
            found.report(tmp_path / "study")
    with pytest.raises(InvalidInput, match="engine"):
        sweep(study, number, values, out=tmp_path / "new", engine="steam")
    assert _files(tmp_path) == before
    assert sweep(study, number, values, out=tmp_path / "sweep", engine="reference").values == (
        0.1,
        0.5,
        1.0,
    )


def test_a_sweep_is_read_back_and_its_page_written_again(spec, tmp_path):
    out = tmp_path / "out"
    found = sweep(*read_sweep(spec), out=out, engine="reference")
    again = Sweep.load(out)
    assert (again, again.values) == (found, found.values)
    ended = CliRunner().invoke(app, ["report", str(out)])
    assert ended.exit_code == 0, ended.output
    assert "Simulated earlier, in " in ended.output
    assert "<h1>Regret against observe</h1>" in (out / "report.html").read_text()


def test_a_rerun_of_a_sweep_says_once_that_nothing_was_left_to_play(spec, tmp_path):
    command = ["study", str(spec), "--out", str(tmp_path / "o"), "--engine", "reference"]
    first = CliRunner().invoke(app, [*command, "--no-report"])
    again = CliRunner().invoke(app, [*command, "--no-report"])
    assert "Simulated in " in first.output
    assert again.stderr.startswith("Nothing was left to play: all 6 cells are in ")
    assert again.stderr.count("\n") == 1
    assert "Simulated earlier, in " in again.stdout


def late(laws):
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    return Study(arms, {"late": Delayed(laws, window=30)}, UCB(), horizon=40, baseline=False)


def test_a_path_leads_into_a_delay_law_and_only_numbers_are_offered():
    one, both = late(GeometricDelay(5)), late([GeometricDelay(5), GeometricDelay(9, arrive=0.5)])
    for mean in (1.0, 20.0):
        found = varied(one, "censorships.*.laws.mean", mean).censorships["late"]
        assert found == Delayed(GeometricDelay(mean), window=30)
    found = varied(both, "censorships.late.laws.1.arrive", 0.8).censorships["late"]
    assert found.laws[1] == GeometricDelay(9, arrive=0.8)
    assert found.laws[0] == GeometricDelay(5)
    assert varied(one, "censorships.late.window", 7).censorships["late"].window == 7
    said = r"Use one of: censorships\.late\.laws\.mean, censorships\.late\.laws\.arrive, cens"
    with pytest.raises(InvalidInput, match=said + r"orships\.late\.window\.$"):
        varied(one, "censorships.late.law", 1)
    with pytest.raises(InvalidInput, match=r"Add its place: censorships\.late\.laws\.0\.mean\."):
        varied(both, "censorships.*.laws.mean", 1)
    with pytest.raises(InvalidInput, match=r"must name a number; .*Use one of: cens.*laws\.mean"):
        varied(one, "censorships.late.laws", 1)
    with pytest.raises(InvalidInput, match="must name an entry that exists"):
        varied(both, "censorships.late.laws.2.mean", 1)
    assert sweep(one, "censorships.*.laws.mean", [1, 5], engine="reference").coordinate == "mean"


def test_a_study_is_played_over_p_in_place_of_its_censorships():
    found = STUDY.over(p=[0.2, 0.9], engine="reference")
    assert found.values == (0.2, 0.9)
    expected = Study(
        STUDY.problems,
        {"uniform": Uniform(0.2)},
        STUDY.policies,
        horizon=100,
        replications=10,
        baseline=False,
    )
    again = simulate(expected, engine="reference")
    assert np.array_equal(found.results[0].tracks["regret"], again.tracks["regret"])
    assert found.data["regret"].dims[0] == "observe"


@pytest.mark.parametrize(
    ("number", "path"),
    [
        ({"horizon": [50, 100]}, "horizon"),
        ({"regularization": [0.5, 1.0]}, "policies.*.regularization"),
        ({"censorships.half.observe": [0.5, 1.0]}, "censorships.half.observe"),
    ],
)
def test_a_number_is_named_by_its_field_where_that_is_enough(number, path):
    found = STUDY.over(engine="reference", **number)
    other = sweep(STUDY, path, *number.values(), engine="reference")
    assert found.path == path
    assert found.summary() == other.summary()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ({}, "`over` must be given one number with its values; got .*study.over.p="),
        ({"p": [0.1], "horizon": [5]}, "must be given one number with its values"),
        ({"regularisation": [0.1]}, "Did you mean 'regularization'"),
        ({"zebra": [0.1]}, "Use one of: p, horizon, replications, seed, "),
        ({"p": [0.0]}, "observe"),
    ],
)
def test_what_is_no_number_of_the_study_is_refused(number, said):
    with pytest.raises(InvalidInput, match=said):
        STUDY.over(**number)
