"""The page of a sweep says what fits the number that was varied."""

import pytest

from halfseen import UCB, ArmedBandit, PerArm, Study, Uniform, sweep

pytestmark = pytest.mark.usefixtures("blank_pictures")

STUDY = Study(
    ArmedBandit([0.6, 0.5]),
    {"half": Uniform(0.5), "shops": PerArm([0.3, 0.9])},
    UCB(),
    horizon=100,
    replications=10,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "values", "said", "not_said"),
    [
        ("censorships.half.observe", [0.5, 1.0], "interval: −1/2 against the prob", "the horizon,"),
        (
            "horizon",
            [50, 100],
            "interval: 1/2 where regret grows like the square root",
            "−1/2 against",
        ),
        ("policies.*.regularization", [1.0, 2.0], "95% interval: 0 where regret", "−1/2 against"),
        ("censorships.shops.observe.0", [0.2, 0.4], "95% interval: 0 where", "−1/2 against"),
        ("seed", [1, 2], "at seed 2", "power law"),
        ("replications", [5, 10], "at replications 10", "power law"),
        ("horizon", [50], "at horizon 50", "power law"),
    ],
)
def test_the_page_explains_only_what_fits_the_number(path, values, said, not_said, tmp_path):
    page = sweep(STUDY, path, values, engine="reference").report(tmp_path).read_text()
    page = page.replace("\u00a0", " ")
    assert said in page
    assert not_said not in page
    lead = page.partition('class="lead">')[2].partition("</p>")[0]
    assert lead.count(" at ") == len(values)
