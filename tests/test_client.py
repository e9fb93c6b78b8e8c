"""Our client and Personalizer's own, against a service that listens."""

import httpx
import pytest
from service.over_http import LOOP, listening

import halfseen
from halfseen import Client, InvalidInput, ServiceError

ARTICLES = {
    "name": "personalizer",
    "dimension": 16,
    "policy": {"kind": "lin-ucb"},
    "noise": 0.5,
    "floor": 0.1,
    "window": 60,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("service"), LOOP, ARTICLES, keys=True) as found:
        yield found


@pytest.fixture
def client(place):
    with Client(place.address, place.key) as found:
        yield found


def test_the_client_decides_and_reports(client):
    decision = client.decide("offers", id="c1", available=["red"])
    assert (decision.arm, decision.state, decision.loop) == ("red", "pending", "offers")
    assert decision == client.decide("offers", id="c1", available=["red"])
    assert client.outcome(decision, 1.0)["state"] == "observed"
    assert client.outcome("c1", 1.0)["state"] == "observed"
    held = client.decide("offers", hold=True)
    assert client.activate(held)["state"] == "pending"
    assert client.served(held, "blue", probability=0.5)["state"] == "pending"
    assert client.outcome(held, None)["state"] == "censored"
    many = client.decide_many("offers", 3)
    assert len({decision.id for decision in many}) == 3
    answers = client.batch("offers", [{"outcome": {"id": d.id, "reward": 0}} for d in many])
    assert [answer["status"] for answer in answers] == [200] * 3
    rows = client.decide("personalizer", features=[[0.0] * 16, [1.0] + [0.0] * 15])
    assert rows.arm in ("0", "1")


def test_the_client_manages_loops(client, tmp_path):
    settings = {name: value for name, value in LOOP.items() if name != "name"}
    client.create_loop("mine", **settings)
    assert client.revise_loop("mine", window=5)["revision"] == 2
    client.decide("mine")
    assert client.loop("mine")["decided"] == 1
    assert "mine" in [loop["name"] for loop in client.loops()]
    assert client.export("mine", tmp_path / "log.csv").read_text().count("\n") == 2
    assert client.audit("mine")["rows"] == 1
    client.archive_loop("mine")
    with pytest.raises(InvalidInput, match=r"must end in \.csv or \.parquet"):
        client.export("mine", tmp_path / "log.xls")


def test_a_refusal_is_an_error_with_the_problem(client, place):
    with pytest.raises(ServiceError, match="no loop 'none'") as caught:
        client.decide("none")
    assert (caught.value.status, caught.value.problem["field"]) == (404, "loop")
    with (
        Client(place.address, "hs_wrong") as stranger,
        pytest.raises(ServiceError, match="not valid") as caught,
    ):
        stranger.decide("offers")
    assert caught.value.status == 401


def test_what_may_succeed_later_is_sent_again_under_the_same_ids(monkeypatch):
    sent, waits = [], []
    monkeypatch.setattr(halfseen.client.time, "sleep", waits.append)

    def answer(request):
        sent.append((request.content, request.headers["idempotency-key"]))
        if len(sent) == 1:
            raise httpx.ConnectError("refused")
        if len(sent) < 4:
            return httpx.Response(503, headers={"retry-after": "2"})
        return httpx.Response(201, json={"id": "x", "arm": "red"})

    with Client(transport=httpx.MockTransport(answer)) as client:
        assert client.decide("offers").arm == "red"
    assert len(sent) == 4
    assert len(set(sent)) == 1
    assert 0.05 <= waits[0] <= 0.1
    assert 1.0 <= waits[1] <= 2.0


def test_a_refusal_is_not_sent_again_and_silence_ends_with_a_sentence(monkeypatch):
    monkeypatch.setattr(halfseen.client.time, "sleep", lambda seconds: None)
    sent = []

    def refuse(request):
        sent.append(request)
        return httpx.Response(409, text="no problem document")

    transport = httpx.MockTransport(refuse)
    with (
        Client(transport=transport) as client,
        pytest.raises(ServiceError, match="answered 409"),
    ):
        client.outcome("x", 1.0)
    assert len(sent) == 1
    with (
        Client("http://127.0.0.1:1", retries=1) as client,
        pytest.raises(ServiceError, match=r"http://127\.0\.0\.1:1 does not answer"),
    ):
        client.decide("offers")


def test_an_address_needs_its_scheme():
    with pytest.raises(InvalidInput, match=r"Client\.address"):
        Client("127.0.0.1:8765")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the client itself
def test_personalizers_official_client_runs_unchanged(place):
    from azure.cognitiveservices.personalizer import PersonalizerClient
    from azure.cognitiveservices.personalizer.models import (
        ErrorResponseException,
        RankableAction,
        RankRequest,
    )
    from msrest.authentication import CognitiveServicesCredentials

    client = PersonalizerClient(place.address, CognitiveServicesCredentials(place.key))
    request = RankRequest(
        context_features=[{"timeOfDay": "morning"}, {"device": "phone"}],
        actions=[
            RankableAction(id="sport", features=[{"topic": "ball", "length": 3}]),
            RankableAction(id="news", features=[{"topic": "world"}]),
            RankableAction(id="weather", features=[]),
        ],
        excluded_actions=["weather"],
        event_id="official-1",
        defer_activation=True,
    )
    ranked = client.rank(rank_request=request)
    assert ranked.event_id == "official-1"
    assert ranked.reward_action_id in ("sport", "news")
    assert next(action.id for action in ranked.ranking) == ranked.reward_action_id
    assert 0.0 < ranked.ranking[0].probability <= 1.0
    client.events.activate(event_id="official-1")
    client.events.reward(event_id="official-1", value=1.0)
    with Client(place.address, place.key) as own:
        assert own.loop("personalizer")["observed"] == 1
    with pytest.raises(ErrorResponseException) as caught:
        client.rank(rank_request=RankRequest(actions=[RankableAction(id="a", features=[])] * 2))
    assert "must have different ids" in caught.value.error.error.message
