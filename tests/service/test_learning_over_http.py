"""A simulated world over HTTP: the service learns as the same policy does in `simulate`."""

import asyncio
import json

import numpy as np
import pytest

from halfseen import KLUCB, ArmedBandit, PerArm, Study, simulate
from service.over_http import served

MEANS, SEEN, ROUNDS = (0.6, 0.5), (0.34, 0.87), 2000
LOOP = {
    "arms": ["0", "1"],
    "policy": {"kind": "kl-ucb"},
    "reward": "bernoulli",
    "floor": 0.0,
    "horizon": ROUNDS,
    "window": 3600,
}


async def post(app, path, body):
    """Post to an ASGI application and return the JSON it answers; ten times faster than httpx."""
    content, answers = json.dumps(body).encode(), []

    async def receive():
        return {"type": "http.request", "body": content}

    async def send(message):
        answers.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
    await app(scope, receive, send)
    assert answers[0]["status"] < 300
    return json.loads(answers[1]["body"])


async def regret(app, loop, seed):
    """Play a loop against the world and return what it lost."""
    draws = np.random.default_rng(seed)
    lost = 0.0
    for _ in range(ROUNDS):
        decision = await post(app, f"/v1/loops/{loop}/decisions", {})
        arm = int(decision["arm"])
        lost += MEANS[0] - MEANS[arm]
        reward = int(draws.random() < MEANS[arm]) if draws.random() < SEEN[arm] else None
        await post(app, f"/v1/decisions/{decision['id']}/outcome", {"reward": reward})
    return lost


def played(folder, count, **settings):
    async def main():
        loops = [LOOP | {"name": f"loop{k}"} | settings for k in range(count)]
        async with served(folder, *loops) as place:
            plays = (regret(place.app, loop["name"], k) for k, loop in enumerate(loops))
            return np.array(await asyncio.gather(*plays))

    return asyncio.run(main())


@pytest.mark.slow
def test_regret_over_http_is_that_of_simulate_and_a_tenth_of_missing_as_zero(tmp_path):
    problem = ArmedBandit(MEANS, reward="bernoulli")
    study = Study(problem, PerArm(SEEN), KLUCB(), horizon=ROUNDS, replications=2000, seed=1)
    regrets = simulate(study).data["regret"].isel(problem=0, censorship=0, policy=0, checkpoint=-1)
    expected, spread = float(regrets.mean()), float(regrets.std())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found = played(tmp_path / "a", 24)
    error = spread * (1 / len(found) + 1 / regrets.size) ** 0.5
    assert abs(found.mean() - expected) < 3.0 * error
    as_zero = played(tmp_path / "b", 4, missing=0)
    assert found.mean() < 0.1 * as_zero.mean()
