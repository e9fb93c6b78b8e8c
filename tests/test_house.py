"""Rules for the whole tree: small files, short functions, one name per idea, nothing of a machine.

The lists below are what still breaks a rule. They only shrink: an entry that no longer breaks its
rule must be deleted, and nothing is added.
"""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "halfseen"
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 120
POSITIONAL = 8

LONG_FUNCTIONS = {
    "ball_rounds.play_ball",
    "context_rounds.play_once",
    "cuda_linear.leap",
    "glm_context_rounds.play_glm_contexts",
    "glm_rounds.play_once",
    "linear_rounds.play_once",
    "rounds.play_once",
    "paper_figures.dimension_chart",
}
MANY_PARAMETERS = {
    "logs.audit",
    "logs.invest",
    "logs.plan",
    "logs.window",
    "ball_rounds.play_ball",
    "context_rounds.pick",
    "context_rounds.play_contexts",
    "context_rounds.play_once",
    "cuda_contexts.pick_in_turn",
    "cuda_designs.record",
    "cuda_linear.leap",
    "cuda_rounds.leap",
    "decide_glm.learn_glm",
    "designs.gather_both",
    "glm_context_rounds.play_glm_contexts",
    "glm_rounds.play_glm",
    "glm_rounds.play_once",
    "linear_rounds.play_linear",
    "linear_rounds.play_once",
    "rounds.play",
    "rounds.play_once",
    "glm_fit.maximise",
    "lin_ucb.most_optimistic",
    "linear_baselines.anywhere",
    "linear_baselines.best_for_sampled",
    "linear_baselines.best_or_any",
    "linear_baselines.widest",
    "linear_policy._nowhere",
    "panels.faceted",
    "study.__init__",
}
SHARED_MODULE_NAMES = {
    "adaptivity",
    "bounds",
    "counts",
    "linear_potential",
    "steps",
    "words",
}
NAMED_AND_NOT_YET_THERE = {
    "test_a_damaged_entry_is_deleted_and_compiled_again",
    "test_a_disk_that_fills_while_writing_leaves_no_half_written_entry",
    "test_a_link_can_be_defined_again",
    "test_a_save_that_is_killed_leaves_the_old_or_the_new",
    "test_a_second_run_into_the_same_folder_is_refused_until_the_first_ends",
    "test_a_state_out_of_range_is_refused",
    "test_a_study_that_fits_the_machine_but_not_the_container_is_refused",
    "test_a_user_without_a_writable_home_compiles_in_memory_and_is_told_once",
    "test_a_view_of_a_database_reads_no_files",
    "test_an_audit_takes_any_arms_columns_and_contexts",
    "test_bounds_extremes.py",
    "test_control_c_at_any_moment_of_the_start_prints_no_traceback",
    "test_control_c_stops_inside_one_endless_replication",
    "test_csv_has_no_cell_that_a_spreadsheet_runs",
    "test_edited_policies_are_played_again",
    "test_files_one_may_not_use_are_named_in_one_sentence",
    "test_kinds_that_are_not_registered_are_named_with_their_module",
    "test_late_look.py",
    "test_long_names_files_as_folders_and_misused_options_get_one_short_sentence",
    "test_no_message_and_no_traceback_repeats_a_password",
    "test_policies_and_censorships_named_like_javascript_are_drawn_by_their_names",
    "test_seen_rows_alone_give_the_value_over_all_decisions",
    "test_seen_rows_alone_give_the_value_where_propensities_depend_on_a_context",
    "test_threads_that_save_to_one_path_do_not_collide",
    "test_threads_that_share_a_linear_agent_lose_no_decision",
    "test_threads_that_share_an_agent_lose_no_decision",
    "test_where_address_space_is_short_the_answer_is_printed_and_the_report_written",
    "test_without_noise_the_confidence_interval_never_fails",
}
FAMILIES = {"arms", "linear", "glm", "base"}  # of problems: a module in each folder that has them
MACHINE = re.compile(
    r"(?<![\w.}])/(?:tmp|work|root|opt|home|Users)/\w"
    r"|[\w.-]*(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io|docker\.io|ghcr\.io|quay\.io)"
    r"|conda\.anaconda\.org"
)


def tracked():
    """Return the files of the tree that git knows or would add."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def functions():
    """Return every function of the source as (module and name, its node)."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append((f"{path.stem}.{node.name}", node))
    return found


def positional(node):
    """Return how many arguments a function takes by position, itself aside."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def only(listed, found, rule):
    """Assert that exactly the listed break a rule; the list only shrinks."""
    assert found - listed == set(), f"These break the rule: {rule}."
    assert listed - found == set(), f"These keep the rule now ({rule}): delete them from the list."


def test_no_file_of_the_source_is_over_400_lines():
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py")}
    assert [str(p.relative_to(ROOT)) for p, n in lengths.items() if n > LINES_OF_A_FILE] == []


def test_no_function_is_over_120_lines():
    long = {n for n, f in functions() if f.end_lineno - f.lineno >= LINES_OF_A_FUNCTION}
    only(LONG_FUNCTIONS, long, "at most 120 lines a function")


def test_no_function_takes_over_8_positional_parameters():
    many = {n for n, f in functions() if positional(f) > POSITIONAL}
    only(MANY_PARAMETERS, many, "at most 8 positional parameters")


def test_a_module_name_is_used_once_in_the_tree():
    homes = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if path.stem not in FAMILIES | {"__init__", "__main__"}:
            homes[path.stem].append(path)
    shared = {name for name, paths in homes.items() if len(paths) > 1}
    only(SHARED_MODULE_NAMES, shared, "one module of a name")


def text_of(path):
    """Return the text of a file, or nothing for pictures and the like."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_file_names_a_place_of_a_machine_or_a_registry():
    found = [
        f"{path.relative_to(ROOT)}: {hit.group()}"
        for path in tracked()
        if path != Path(__file__)
        for hit in MACHINE.finditer(text_of(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("cd /tmp/build", True),
        ('Path("/home/ann/log.csv")', True),
        ("--index-url https://pypi.org/simple", True),
        ("https://files.pythonhosted.org/packages", True),
        ("$OUT/tmp/x and src/home/y", False),
        ("pkg:pypi/numpy@2.4.6", False),
    ],
)
def test_places_and_registries_are_noticed(line, caught):
    assert bool(MACHINE.search(line)) is caught


def test_the_walk_sees_the_source():
    names = {name for name, _ in functions()}
    assert "simulate" in {name.partition(".")[2] for name in names}
    assert len(names) > 500


def test_every_test_that_the_page_on_reliability_names_is_there():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    files = list((ROOT / "tests").rglob("test_*.py"))
    defined = {name for f in files for name in re.findall(r"^def (test_\w+)", text_of(f), re.M)}
    named = set(re.findall(r"`(test_\w+(?:\.py)?)`", page))
    assert len(named) > 20
    missing = named - defined - {path.name for path in files}
    only(NAMED_AND_NOT_YET_THERE, missing, "tests named on the page exist")
