"""A client of the decision service `halfseen serve`."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import quote

from halfseen.errors import HalfseenError, InvalidInput

if TYPE_CHECKING:
    import httpx

ADDRESS = "http://127.0.0.1:8765"
AGAIN = (408, 429, 500, 502, 503, 504)  # may succeed when sent again
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds


class ServiceError(HalfseenError):
    """The decision service refused a request, or could not be reached.

    Attributes
    ----------
    status
        The HTTP status; None if there was no answer.
    problem
        The problem document: `detail`, and where it applies `field`, `value` and `fix`.
    """

    def __init__(
        self, message: str, status: int | None = None, problem: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = dict(problem or {})


class ServedDecision(NamedTuple):
    """A decision of the service.

    Attributes
    ----------
    id
        The decision's id, to report its outcome with.
    loop
        Its loop.
    arm
        The name of the arm to play; with features, the place of the action in the list, as "0".
    probability
        With which probability it was chosen.
    state
        pending, or held until it is activated.
    version
        The last event the service had learned from.
    expires_at
        When its window closes, as a time in UTC; None while it is held.
    """

    id: str
    loop: str
    arm: str
    probability: float | None
    state: str
    version: int
    expires_at: str | None


class Client:
    """A client of `halfseen serve`: asks for decisions and reports outcomes.

    A request that gets no answer, or that the service could not serve for the moment, is sent
    again after a growing wait. Each has an id, so that it counts once however often it is sent.

    Parameters
    ----------
    address
        Where the service is.
    key
        A key of the service, as ``halfseen serve keys issue`` prints it.
    timeout
        Seconds to wait for an answer.
    retries
        How often to send a request again.
    transport
        An `httpx` transport, for tests.

    Examples
    --------
    >>> from halfseen import Client
    >>> client = Client("http://127.0.0.1:8765", key="hs_...")  # doctest: +SKIP
    >>> decision = client.decide("offers")  # doctest: +SKIP
    >>> client.outcome(decision, 1.0)  # doctest: +SKIP
    """

    def __init__(
        self,
        address: str = ADDRESS,
        key: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 5,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise HalfseenError(
                "The client needs the package httpx: pip install 'halfseen[serve]'."
            ) from None
        if not isinstance(address, str) or not address.startswith(("http://", "https://")):
            raise InvalidInput(
                "Client.address", "must begin with http:// or https://", address, f"Use {ADDRESS}."
            )
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        options: dict[str, Any] = {} if transport is None else {"transport": transport}
        self._http = httpx.Client(base_url=address, headers=headers, timeout=timeout, **options)
        self._lost = (httpx.TransportError,)
        self.address = address
        self.retries = retries

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def decide(
        self,
        loop: str,
        *,
        id: str | None = None,
        available: Iterable[str] | None = None,
        features: Sequence[Sequence[float]] | None = None,
        hold: bool = False,
    ) -> ServedDecision:
        """Ask a loop for a decision.

        Parameters
        ----------
        loop
            The loop's name.
        id
            Your own id; asked again under it, the service repeats its decision.
        available
            The arms on offer; all if left out.
        features
            A vector per action, for a loop with features.
        hold
            True if it may never be shown: its window begins with `activate`.
        """
        asked = {
            "id": uuid.uuid4().hex if id is None else id,
            "available": None if available is None else list(available),
            "features": None if features is None else [list(row) for row in features],
            "hold": True if hold else None,
        }
        body = {name: value for name, value in asked.items() if value is not None}
        return _decision(self._post(f"/v1/loops/{_part(loop)}/decisions", body))

    def decide_many(self, loop: str, count: int, *, hold: bool = False) -> list[ServedDecision]:
        """Ask a loop for several decisions at once."""
        body: dict[str, Any] = {"count": count} | ({"hold": True} if hold else {})
        answer = self._post(f"/v1/loops/{_part(loop)}/decisions", body)
        return [_decision(one) for one in answer["decisions"]]

    def activate(self, decision: ServedDecision | str) -> dict[str, Any]:
        """Report that a held decision is now shown."""
        return self._post(_about(decision, "activate"), {})

    def served(
        self,
        decision: ServedDecision | str,
        arm: Any,
        *,
        probability: float | None = None,
        features: Sequence[float] | None = None,
    ) -> dict[str, Any]:
        """Report that another arm was shown than the one chosen, and with which probability.

        A loop with features needs those of what was shown.
        """
        body: dict[str, Any] = {"arm": arm}
        if probability is not None:
            body["probability"] = probability
        if features is not None:
            body["features"] = list(features)
        return self._post(_about(decision, "served"), body)

    def outcome(
        self, decision: ServedDecision | str, reward: float | None, *, at: str | None = None
    ) -> dict[str, Any]:
        """Report the reward of a decision; None if it will never come."""
        body = {"reward": reward} if at is None else {"reward": reward, "at": at}
        return self._post(_about(decision, "outcome"), body)

    def batch(self, loop: str, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Send up to 1,000 requests at once; each has its own answer.

        An item is an object with one of `decide`, `activate`, `served` and `outcome`: the body of
        that request, with the decision's `id` in it.
        """
        answer = self._post(f"/v1/loops/{_part(loop)}/batch", {"items": [dict(i) for i in items]})
        return list(answer["items"])

    def loops(self) -> list[dict[str, Any]]:
        """Return every loop."""
        return list(self._send("GET", "/v1/loops").json()["loops"])

    def loop(self, name: str) -> dict[str, Any]:
        """Return the settings and status of a loop: estimates, seen rates, counts, winner."""
        return dict(self._send("GET", f"/v1/loops/{_part(name)}").json())

    def create_loop(self, name: str, **settings: Any) -> dict[str, Any]:
        """Create a loop, with the settings of a loop file."""
        return self._post("/v1/loops", {"name": name, **settings})

    def revise_loop(self, name: str, **settings: Any) -> dict[str, Any]:
        """Change settings of a loop."""
        return dict(self._send("PATCH", f"/v1/loops/{_part(name)}", settings).json())

    def archive_loop(self, name: str) -> None:
        """Close a loop: it answers no more decisions, and its log stays."""
        self._send("DELETE", f"/v1/loops/{_part(name)}")

    def audit(self, loop: str) -> dict[str, Any]:
        """Return the audit of a loop's log."""
        return dict(self._send("GET", f"/v1/loops/{_part(loop)}/audit").json())

    def export(self, loop: str, path: str | Path) -> Path:
        """Write a loop's log to a .parquet or .csv file, which `halfseen audit` reads."""
        file = Path(path)
        kind = file.suffix.lstrip(".")
        if kind not in ("csv", "parquet"):
            raise InvalidInput("path", "must end in .csv or .parquet", str(path), "Rename it.")
        answer = self._send("GET", f"/v1/loops/{_part(loop)}/export?format={kind}")
        file.write_bytes(answer.content)
        return file

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._send("POST", path, body).json())

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request, with retries, and return the answer."""
        headers = {} if method == "GET" else {"Idempotency-Key": uuid.uuid4().hex}
        wait = FIRST_WAIT
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            asked = wait
            try:
                answer = self._http.request(method, path, json=body, headers=headers)
            except self._lost as error:
                if last:
                    said = str(error) or type(error).__name__
                    raise ServiceError(f"{self.address} does not answer: {said}.") from None
            else:
                if answer.status_code < 400:
                    return answer
                if last or answer.status_code not in AGAIN:
                    raise _refusal(answer)
                asked = max(wait, _seconds(answer.headers.get("retry-after")))
            time.sleep(min(asked, LONGEST_WAIT) * random.uniform(0.5, 1.0))
            wait = min(2.0 * wait, LONGEST_WAIT)
        raise AssertionError("unreachable")


def _decision(answer: Mapping[str, Any]) -> ServedDecision:
    found: dict[str, Any] = {name: answer.get(name) for name in ServedDecision._fields}
    return ServedDecision(**found)


def _about(decision: ServedDecision | str, what: str) -> str:
    """Return the address for what is said about a decision."""
    if isinstance(decision, ServedDecision):
        return f"/v1/decisions/{_part(decision.id)}/{what}?loop={_part(decision.loop)}"
    return f"/v1/decisions/{_part(decision)}/{what}"


def _part(name: str) -> str:
    return quote(str(name), safe="")


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdigit() else 0.0


def _refusal(answer: httpx.Response) -> ServiceError:
    try:
        problem = answer.json()
        detail = str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        problem, detail = {}, f"The service answered {answer.status_code}."
    return ServiceError(detail, answer.status_code, problem)
