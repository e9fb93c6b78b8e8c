"""The explorer over HTTP: safe headers, sentences for nonsense, nothing kept of a log."""

import json
import re
import tempfile
import time

import httpx
import pytest

from halfseen import audit
from halfseen.explorer.site import VIEWS

LOG = "offer,sold\n" + "".join(
    f"{'left' if i % 3 else 'right'},{(i % 5 == 0) * 1 if i % 4 else ''}\n" for i in range(600)
)


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address.removesuffix("/explore"), timeout=60) as client:
        yield client


@pytest.mark.parametrize("path", ["", "log", *VIEWS])
def test_every_page_forbids_inline_scripts_and_other_hosts(client, path):
    answer = client.get(f"/explore/{path}")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert "http://" not in answer.text
    assert "https://" not in answer.text


def test_files_have_addresses_that_change_with_them_and_are_kept(client):
    page = client.get("/explore/arms").text
    found = re.findall(r'(?:src|href)="(/explore/static/[^"]+)"', page)
    assert len(found) == 4
    for address in found:
        path, _, version = address.partition("?v=")
        assert re.fullmatch(r"[0-9a-f]{12}", version)
        for asked, kept in ((address, "immutable"), (path, "no-cache"), (f"{path}?v=0", "no-c")):
            assert kept in client.get(asked).headers["cache-control"]


def test_answers_are_in_the_page_without_a_script(client):
    text = client.get("/explore/arms?means=0.6,0.5&observe=0.5,0.5").text
    assert "The effective dimension is 4 instead of 2" in text
    assert 'value="0.6,0.5"' in text


def test_nonsense_in_an_address_gets_a_sentence_and_a_page(client):
    answer = client.get("/explore/arms?means=<script>alert(1)</script>,2")
    assert answer.status_code == 422
    assert "`means` must be a number" in answer.text
    assert "<script>alert" not in answer.text
    said = client.get("/explore/arms/picture?observe=7,0.5,0.5")
    assert said.status_code == 200  # a browser would log any other as an error
    assert "`observe`" in said.json()["sentence"]
    assert client.get("/explore/arms/play?horizon=-1").status_code == 422


@pytest.mark.parametrize(
    "path", ["nowhere", "<script>alert(1)</script>", "static/..%2fsite.py", "arms/x", "a/b/c/d"]
)
def test_an_address_without_a_page_gets_a_page_that_says_so(client, path):
    answer = client.get(f"/explore/{path}")
    assert answer.status_code == 404
    assert "There is no page" in answer.text
    assert "<script>alert" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("step", ["0", "6", "-1", "0003999", "00031111", "1" + "9" * 4500, "²"])
def test_a_step_that_is_not_of_the_tour_is_a_page_without_one(client, step):
    answer = client.get("/explore/arms", params={"tour": step})
    assert answer.status_code == 200
    assert 'class="tour"' not in answer.text


@pytest.mark.slow
def test_curves_stream_in_as_replications_finish(client):
    with client.stream("GET", "/explore/arms/play?horizon=100") as answer:
        events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data")]
    done = [event["done"] for event in events[:-1]]
    assert done == sorted(done)
    assert done[0] == 2
    assert events[-1] == {}


@pytest.mark.slow
def test_a_reader_waits_for_one_batch_of_another_and_who_left_plays_no_more(client, monkeypatch):
    played = []

    def slow(view):
        mine = view.values["horizon"]
        for done in range(50):
            time.sleep(0.1)
            played.append(mine)
            yield {"done": done, "total": 50, "rows": []}

    monkeypatch.setattr("halfseen.explorer.site.updates", slow)
    with client.stream("GET", "/explore/arms/play?horizon=1000") as first:
        next(first.iter_lines())
        with client.stream("GET", "/explore/arms/play?horizon=2000") as second:
            next(second.iter_lines())
            assert len(played) <= 5
    time.sleep(0.5)
    before = len(played)
    time.sleep(0.5)
    assert len(played) == before


def test_audit_of_a_dropped_log_is_that_of_the_library_and_the_log_is_not_kept(
    client, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    columns = client.post("/explore/log/columns", content=LOG).json()
    assert columns["columns"] == ["offer", "sold"]
    assert columns["guess"]["action"] == "offer"
    found = client.post("/explore/log/audit?action=offer&reward=sold", content=LOG).json()
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    own = audit(path, action="offer", reward="sold")
    assert found["answers"] == list(own.answers)
    assert [row["rate"] for row in found["pictures"][0]["rows"]] == [
        own.rates.records()[i]["rate"] for i in own.costliest(2)
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("audit?action=offer&reward=price", LOG, "price"),
        ("audit?reward=sold", LOG, "`action`"),
        ("columns", "", "log"),
        ("columns", "\x00\xff\x00", "log"),
    ],
)
def test_a_log_that_cannot_be_read_gets_a_sentence(client, path, body, said):
    answer = client.post(f"/explore/log/{path}", content=body.encode("latin-1"))
    sentence = answer.json()["sentence"]
    assert said in sentence
    assert "--" not in sentence
    assert "got 'your log'" not in sentence


def test_what_the_page_advises_can_be_done_on_the_page(client):
    text = "offer,sold\n" + "caf\xe9,1\ntea,\n" * 20
    body = text.encode("latin-1")
    refused = client.post("/explore/log/columns?encoding=utf-8", content=body).json()["sentence"]
    assert refused == (
        "`log` must be text in UTF-8. Say which it is: “encoding” cp1252, as Excel on Windows"
        " writes it, latin-1 or utf-16."
    )
    found = client.post("/explore/log/columns?encoding=latin-1", content=body).json()
    assert found["columns"] == ["offer", "sold"]
    address = "/explore/log/audit?action=offer&reward=sold&encoding=latin-1"
    voided = client.post(address, content=body).json()
    assert "Say “empty means” 0 if so." in voided["warnings"][0]["text"]
    found = client.post(f"{address}&empty_means=0", content=body).json()
    assert not found["voided"]
    assert found["command"] == (
        "halfseen audit log.csv --action offer --reward sold --encoding latin-1 --empty-means 0.0"
        " --out my-audit"
    )
    for more in ("encoding=ebcdic", "empty_means=nothing"):
        assert more[:5] in client.post(f"{address}&{more}", content=body).json()["sentence"]


def test_a_log_that_is_too_large_is_refused(client, monkeypatch):
    monkeypatch.setattr("halfseen.explorer.site.LARGEST_LOG", 100)
    answer = client.post("/explore/log/columns", content=LOG)
    assert "The log is larger than" in answer.json()["sentence"]


def test_a_log_in_parquet_is_audited_too_and_no_message_names_a_file_of_the_server(
    client, tmp_path
):
    import duckdb

    (tmp_path / "log.csv").write_text(LOG)
    duckdb.sql(f"COPY '{tmp_path}/log.csv' TO '{tmp_path}/log.parquet'")
    body = (tmp_path / "log.parquet").read_bytes()
    found = client.post("/explore/log/audit?action=offer&reward=sold", content=body)
    assert "You see 75% of outcomes" in found.json()["answers"][0]
    for content in (body[:200], b"a\n\xff\xfe\n", b""):
        refused = client.post("/explore/log/columns", content=content)
        assert "your-log" not in refused.json()["sentence"]


def test_everything_seen_is_said_plainly(client):
    text = client.get("/explore/arms?means=0.6,0.5&observe=1,1").text
    assert "Every reward is seen: the effective dimension is the number of arms, 2." in text
