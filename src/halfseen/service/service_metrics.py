"""Metrics of the service in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

MEDIA_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
OUTCOMES = ("observed", "censored", "late")
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Counts and latencies of requests, and figures of the loops."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        registry: Any = {"registry": self._registry}
        self._requests = Counter(
            "halfseen_requests", "Requests by what was asked.", ("kind", "status"), **registry
        )
        self._seconds = Histogram(
            "halfseen_request_seconds",
            "Latency of requests in seconds.",
            ("kind",),
            buckets=BUCKETS,
            **registry,
        )
        self._commits = Histogram(
            "halfseen_commit_seconds",
            "Duration of commits to the database in seconds.",
            buckets=BUCKETS,
            **registry,
        )
        self._queue = Gauge("halfseen_queue", "Requests waiting for the database.", **registry)
        self._lag = Gauge(
            "halfseen_lag_events", "Events in the log not yet learned from.", **registry
        )
        self._failures = Gauge(
            "halfseen_commit_failures", "Commits that failed since the start.", **registry
        )
        self._aside = Gauge(
            "halfseen_loops_aside", "Loops whose log cannot be replayed.", **registry
        )
        self._loops = LoopCollector()
        self._registry.register(self._loops)
        self._children: dict[tuple[str, int], tuple[Any, Any]] = {}

    def request(self, kind: str, status: int, seconds: float) -> None:
        """Count a request."""
        children = self._children.get((kind, status))
        if children is None:
            children = (self._requests.labels(kind, str(status)), self._seconds.labels(kind))
            self._children[kind, status] = children
        children[0].inc()
        children[1].observe(seconds)

    def take(self, numbers: Mapping[str, Any]) -> None:
        """Update the figures of the service."""
        self._queue.set(numbers["queue"])
        self._lag.set(numbers["lag_events"])
        self._failures.set(numbers["failures"])
        self._aside.set(numbers["aside"])
        for seconds in numbers["commit_seconds"]:
            self._commits.observe(seconds)
        self._loops.loops = numbers["loops"]

    def text(self) -> bytes:
        """Return all metrics."""
        return generate_latest(self._registry)


class LoopCollector:
    """Yields the metrics of each loop from the last update."""

    def __init__(self) -> None:
        self.loops: Mapping[str, Mapping[str, Any]] = {}

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the metrics have their names when they are collected."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        decisions = CounterMetricFamily(
            "halfseen_decisions",
            "Decisions by the arm chosen, whatever was served.",
            labels=("loop", "arm"),
        )
        outcomes = CounterMetricFamily(
            "halfseen_outcomes", "Outcomes by state.", labels=("loop", "state")
        )
        pending = GaugeMetricFamily(
            "halfseen_pending", "Decisions waiting for their outcome.", labels=("loop",)
        )
        held = GaugeMetricFamily(
            "halfseen_held", "Decisions held and not yet shown.", labels=("loop",)
        )
        unmatched = GaugeMetricFamily(
            "halfseen_unmatched", "Outcomes whose decision is not known.", labels=("loop",)
        )
        seen = GaugeMetricFamily(
            "halfseen_seen_ratio",
            "Share of the settled decisions whose reward came.",
            labels=("loop", "arm"),
        )
        dimension = GaugeMetricFamily(
            "halfseen_effective_dimension",
            "Effective dimension: the sum of one over the shares seen.",
            labels=("loop",),
        )
        for name, loop in self.loops.items():
            for arm, count in loop["decisions_per_arm"].items():
                decisions.add_metric((name, arm), count)
            for state in OUTCOMES:
                outcomes.add_metric((name, state), loop[state])
            pending.add_metric((name,), loop["pending"])
            held.add_metric((name,), loop["held"])
            unmatched.add_metric((name,), loop["unmatched"])
            for arm, share in loop.get("seen_ratio", {}).items():
                if share is not None:
                    seen.add_metric((name, arm), share)
            if loop.get("effective_dimension") is not None:
                dimension.add_metric((name,), loop["effective_dimension"])
        yield from (decisions, outcomes, pending, held, unmatched, seen, dimension)
