"""The OpenAPI document is true: whatever it allows is answered as it says."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

from service.over_http import LOOP, listening

FEATURES = {
    "name": "personalizer",
    "dimension": 4,
    "policy": {"kind": "lin-ucb"},
    "window": 60,
    "floor": 0.1,
}
CONFIG = {
    # An arm may be unknown to the loop, an id not printable: the document cannot say so.
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", 404, 409, 422]},
        "negative_data_rejection": {"expected-statuses": ["4xx"]},
    }
}


def check_every_operation(folder, examples):
    config = schemathesis.Config.from_dict(CONFIG)
    with listening(folder, LOOP, FEATURES) as place:
        schema = schemathesis.openapi.from_url(f"{place.address}/openapi.json", config=config)
        tried = 0
        for found in schema.get_all_operations():
            operation = found.ok()
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                tried += check_operation(operation, mode, examples)
        assert tried > 30
        statuses = place.service.numbers()
        assert statuses["failures"] == 0


def check_operation(operation, mode, examples):
    """Send requests of one operation and check each answer; return how many were sent."""
    sent = 0

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        phases=[Phase.generate, Phase.shrink],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        nonlocal sent
        sent += 1
        positive = mode is GenerationMode.POSITIVE
        if positive and "loop" in (case.path_parameters or ()) and sent % 2:
            case.path_parameters["loop"] = LOOP["name"]
        case.call_and_validate()

    from hypothesis.errors import Unsatisfiable

    try:
        check()
    except Unsatisfiable:  # nothing about this operation can be wrong
        assert mode is GenerationMode.NEGATIVE
    return sent


@pytest.mark.slow
def test_every_operation_answers_as_the_openapi_document_says(tmp_path):
    check_every_operation(tmp_path, 2)


@pytest.mark.slow
def test_every_operation_answers_as_the_openapi_document_says_to_many_requests(tmp_path):
    check_every_operation(tmp_path, 150)
