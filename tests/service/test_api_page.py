"""The page of the API needs no network, no script, and names every operation."""

import base64
import re
from hashlib import sha256

from service.over_http import run


def test_the_page_of_the_api_needs_no_network_and_no_script(tmp_path):
    async def ask(place):
        return await place.client.get("/api"), await place.client.get("/openapi.json")

    page, document = run(tmp_path, ask)
    text = page.text
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in text
    assert not re.search(r'(src|href)="?(https?:)?//', text)
    policy = page.headers["content-security-policy"]
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for path, methods in document.json()["paths"].items():
        assert f"<code>{path}</code>" in text
        assert all(method.upper() in text for method in methods)


def test_every_reference_of_the_openapi_document_is_there(tmp_path):
    async def ask(place):
        return (await place.client.get("/openapi.json")).json()

    document = run(tmp_path, ask)
    named = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert named <= set(document["components"]["schemas"])
    assert "securitySchemes" not in document["components"]  # this one is open


def test_with_keys_every_operation_says_which_role_it_needs(tmp_path):
    async def ask(place):
        return (await place.client.get("/openapi.json")).json()

    document = run(tmp_path, ask, keys=True)
    free = {
        path
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if "security" not in operation
    }
    assert free == {"/healthz", "/readyz", "/openapi.json", "/api"}
