"""What a warning says against the best arm stands in the sentence that names it."""

import numpy as np
import pytest

from halfseen import audit
from halfseen.logs.best_arm import DOUBTS, BestArm
from halfseen.logs.warnings.log_warning import LogWarning
from halfseen.report.audit.answer_section import answer_section
from logs.warnings.made_logs import made, slower_ones, user_tied, zeros_written

SHOWN = BestArm(("a",), True, False, 0.95, (), 0.999, None, 2)


def hidden():
    """Return a log of which the rewards not observed are written, and are lower."""
    rng = np.random.default_rng(0)
    arm, reward = rng.integers(0, 2, 3000), rng.normal(size=3000)
    reward = reward + arm
    return {"arm": arm, "reward": reward, "seen": rng.random(3000) < 1 / (1 + np.exp(-reward))}


LOGS = {
    "hidden-differ": lambda: (hidden(), {"action": "arm", "reward": "reward", "observed": "seen"}),
    "late-differ": lambda: made("late", slower_ones(1.5), 1),
    "units-tied": lambda: made("tied", user_tied, 1),
    "zeros-follow": lambda: made("zeros", zeros_written, 3),
}


@pytest.mark.parametrize("kind", LOGS)
def test_a_found_dependence_qualifies_the_best_arm_in_text_and_json(kind):
    log, roles = LOGS[kind]()
    found = audit(log, **roles)
    assert kind in {warning.kind for warning in found.warnings}
    assert DOUBTS[kind] in str(found.best)
    assert str(found.best) in str(found)
    numbers = found.to_dict()["best_arm"]
    assert DOUBTS[kind] in numbers["doubts"]
    assert numbers["sentence"] == str(found.best)
    assert found.winner(0.9).doubts == found.best.doubts


def test_a_found_dependence_qualifies_the_best_arm_on_the_page():
    log, roles = LOGS["hidden-differ"]()
    page = str(answer_section(audit(log, **roles), None, []))
    assert f"(shown at 95%, however often you look). But {DOUBTS['hidden-differ']}." in page


def test_other_warnings_raise_no_doubt_and_several_doubts_are_one_sentence():
    assert SHOWN.doubted([LogWarning("weekly", "", "", "")]) == SHOWN
    both = SHOWN.doubted([LogWarning(kind, "", "", "") for kind in ("units-tied", "late-differ")])
    assert both.doubts == (DOUBTS["late-differ"], DOUBTS["units-tied"])
    assert str(both) == f"{SHOWN} But {'; and '.join(both.doubts)}."


def test_a_warning_that_voids_the_numbers_is_a_doubt():
    void = SHOWN.doubted([LogWarning("sentinel", "", "", "", voids=True)])
    assert str(void).endswith("But a warning invalidates the numbers of this log.")
