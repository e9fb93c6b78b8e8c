"""A small real study, its report, and a browser without a network."""

import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    BernoulliThompson,
    FiniteActions,
    ImputeMean,
    ImputeZero,
    ImputeZeroLinUCB,
    LinearBandit,
    LinThompson,
    LinUCB,
    Logistic,
    MultiThreshold,
    PerArm,
    RandomActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.report import write_report


@pytest.fixture(scope="session")
def result():
    study = Study(
        {"five adverts": ArmedBandit([0.6, 0.5, 0.3], reward="bernoulli")},
        {
            "half seen": Uniform(0.5),
            "best rarely seen": PerArm([0.1, 0.9, 0.9]),
            "worst rarely seen": PerArm([0.9, 0.5, 0.05]),
        },
        {
            "UCB": UCB(),
            "Thompson": BernoulliThompson(),
            "zeros": ImputeZero(),
            "means": ImputeMean(),
        },
        horizon=600,
        replications=40,
        seed=5,
        checkpoints=20,
    )
    return simulate(study, engine="cpu")


@pytest.fixture(scope="session")
def report(result, tmp_path_factory):
    return write_report(result, tmp_path_factory.mktemp("report"))


class Viewer:
    """Opens pages offline and keeps everything they complain about."""

    def __init__(self, browser):
        self.browser = browser
        self.contexts = []
        self.complaints = []

    def __call__(self, path, width=1200, **options):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.route("**/*", self.only_files)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=20_000)
        return page

    def only_files(self, route):
        if route.request.url.startswith("file://"):
            route.continue_()
        else:
            self.complaints.append(f"asked for {route.request.url}")
            route.abort()

    def close(self):
        for context in self.contexts:
            context.close()
        assert self.complaints == []


@pytest.fixture
def show(browser):
    """Return a function that opens a page; whatever the page complains about fails the test."""
    viewer = Viewer(browser)
    yield viewer
    viewer.close()


@pytest.fixture(scope="session")
def desktop(browser, report):
    """Return the report, open on a wide screen."""
    viewer = Viewer(browser)
    yield viewer(report)
    viewer.close()


@pytest.fixture(scope="session")
def linear_result():
    rng = np.random.default_rng(1)
    theta = [0.6, 0.3, -0.2, 0.1]
    finite = FiniteActions(rng.normal(size=(12, 4)), normalize=True)
    study = Study(
        {
            "same offers": LinearBandit(theta, 0.5, finite),
            "new offers": LinearBandit(theta, 0.5, RandomActions(10, 4)),
        },
        {
            "thinning out": MultiThreshold([0.2, 0.7], [0.9, 0.5, 0.1], [1, 0, 0, 0]),
            "logistic": Logistic([1, 0, 0, 0], -3.0),
        },
        {"LinUCB": LinUCB(), "Thompson": LinThompson(), "zeros": ImputeZeroLinUCB()},
        horizon=1000,
        replications=30,
        seed=5,
        checkpoints=25,
        alphas=[0.5, 1.0],
    )
    return simulate(study, engine="cpu")


@pytest.fixture(scope="session")
def linear_report(linear_result, tmp_path_factory):
    return write_report(linear_result, tmp_path_factory.mktemp("linear"))


@pytest.fixture(scope="session")
def linear_desktop(browser, linear_report):
    """Return the report of a linear study, open on a wide screen."""
    viewer = Viewer(browser)
    yield viewer(linear_report)
    viewer.close()
