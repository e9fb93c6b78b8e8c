"""One live decision: choose and observe, and the probability of a choice."""

import math
import statistics
import time

import numpy as np

from halfseen import UCB, Agent, BernoulliThompson, GaussianThompson, LinearAgent, LinUCB

CALLS = 100_000


def agent_microseconds():
    """Return the median time of choose plus observe."""
    agent = Agent(UCB(), 10, horizon=CALLS)
    return _median(lambda: agent.observe(decision := agent.choose(), 0.1 * decision.arm))


def linear_agent_microseconds():
    """Return the median time of choosing among 20 actions of 10 features and observing."""
    rows = np.random.default_rng(0).normal(size=(500, 20, 10))
    menus = list(rows / np.linalg.norm(rows, axis=2, keepdims=True))
    agent = LinearAgent(LinUCB(), 10, horizon=CALLS)

    def step():
        decision = agent.choose(menus[agent.decisions % 500])
        agent.observe(decision, 0.1)

    return _median(step)


def probability_milliseconds(policy, calls=300):
    """Return the median CPU time of a decision of 50 arms with its exact probability."""
    rng = np.random.default_rng(0)
    agent = Agent(policy, 50, noise=0.5, reward="bernoulli", horizon=10_000)
    for _ in range(2_000):
        agent.observe(agent.choose([int(rng.integers(50))]), float(rng.random() < 0.4))
    times = []
    for _ in range(calls):
        started = time.process_time_ns()
        decision = agent.choose()
        times.append(time.process_time_ns() - started)
        agent.observe(decision, float(rng.random() < 0.4))
    return statistics.median(times) / 1e6


def numpy_microseconds():
    """Return the same for the loop one would write with numpy."""
    count, total = np.zeros(10), np.zeros(10)
    explore = 6.0 * math.log(CALLS)

    def step():
        weight = 1.0 / (count + 1.0)
        arm = int(np.argmax(total * weight + np.sqrt(explore * weight) + weight))
        count[arm] += 1.0
        total[arm] += 0.1 * arm

    return _median(step)


def _median(step):
    times = []
    clock = time.perf_counter_ns
    for _ in range(CALLS):
        started = clock()
        step()
        times.append(clock() - started)
    return statistics.median(times) / 1000


def live():
    """Return the agents' rows."""
    ours, plain = agent_microseconds(), numpy_microseconds()
    return [
        {
            "benchmark": "live: choose and observe, 10 arms, median",
            "halfseen": f"{ours:.2f} us",
            "other": f"numpy loop: {plain:.2f} us",
            "ratio": plain / ours,
            "target": "< 4 us",
        },
        {
            "benchmark": "live: choose among 20 actions of 10 features and observe, median",
            "halfseen": f"{linear_agent_microseconds():.2f} us",
            "other": "",
            "ratio": None,
            "target": "< 10 us",
        },
        {
            "benchmark": "live: a Gaussian Thompson decision of 50 arms with its probability",
            "halfseen": f"{probability_milliseconds(GaussianThompson()):.2f} ms",
            "other": "",
            "ratio": None,
            "target": "< 2 ms",
        },
        {
            "benchmark": "live: a Bernoulli Thompson decision of 50 arms with its probability",
            "halfseen": f"{probability_milliseconds(BernoulliThompson(), 50):.1f} ms",
            "other": "",
            "ratio": None,
            "target": "",
        },
    ]


if __name__ == "__main__":
    print(live())
