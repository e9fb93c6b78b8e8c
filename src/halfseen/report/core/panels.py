"""Shared parts of all charts: a panel per censorship, a colour per policy, axes and fonts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from halfseen.report.core.neutral_names import Rows as Rows
from halfseen.report.core.neutral_names import neutral

if TYPE_CHECKING:
    import altair as alt

# Okabe and Ito's colours without black and yellow, which vanish on a dark or a light page.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D5A")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
# The page's style sheet recolours exactly these where the page is dark.
INK, MUTED, GRID, FILL = "#1c2329", "#5c6770", "#e4e8eb", "#9fb3c2"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
WIDTH, HEIGHT = 400, 240  # default pixels of a panel
CHOSEN, HINTS = "chosen", "hints"


@dataclass(frozen=True)
class Figure:
    """A chart with its title and note.

    Attributes
    ----------
    name
        Its file name, without the extension.
    title, note
        What it shows and how to read it.
    spec
        Vega-Lite, without the data.
    key, rows
        The data's name and the data; charts of the same rows share their key.
    trouble
        Why the chart (without a `spec`) or its image files are missing.
    """

    name: str
    title: str
    note: str
    spec: dict[str, Any]
    key: str
    rows: Rows
    trouble: str = ""

    @property
    def neutral(self) -> tuple[dict[str, Any], Rows]:
        """The chart and its data with keys for the names people gave."""
        return neutral(self.spec, self.rows)

    @property
    def still(self) -> dict[str, Any]:
        """The chart with its data inside and without its interactive parts."""
        spec, rows = self.neutral
        panel = spec["spec"]
        layers = [layer for layer in panel["layer"] if not layer.get("name", "").startswith(HINTS)]
        return spec | {"spec": panel | {"layer": layers}, "datasets": {self.key: rows}}


@dataclass(frozen=True)
class Axes:
    """A horizontal axis and, for any field drawn on it, the vertical one."""

    x: Any
    title: str
    vertical: dict[str, Any]
    foot: float = 0.0
    log: bool = False

    @property
    def shown(self) -> str:
        """Filter for what can be drawn: on a logarithmic scale, nothing at 0."""
        return f"datum.mean >= {self.foot!r}" if self.log else "true"

    def y(self, field: str = "mean") -> alt.Y:
        """Return the vertical axis for a field."""
        import altair as alt

        return alt.Y(f"{field}:Q", title=self.title, **self.vertical)


class Named(Protocol):
    """What panels and colours are named after: a study, or any object with these attributes."""

    @property
    def censorships(self) -> Collection[str]:
        """A panel each."""

    @property
    def policies(self) -> Collection[str]:
        """A colour each."""


@dataclass(frozen=True)
class Panels:
    """Draws one panel per censorship of a study."""

    study: Named

    @property
    def dashed(self) -> bool:
        """True where there are more policies than colours."""
        return len(self.study.policies) > len(PALETTE)

    def colour(self, shown: Sequence[str] | None = None) -> alt.Color:
        """Return a colour per policy, from a palette that is safe for colour-blind readers.

        Parameters
        ----------
        shown
            The policies the legend names, if not all.
        """
        import altair as alt

        names = list(self.study.policies)
        shades = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
        return alt.Color(
            "policy:N",
            sort=names,
            scale=alt.Scale(domain=names, range=shades),
            legend=self.legend(shown),
        )

    def legend(self, shown: Sequence[str] | None = None) -> alt.Legend:
        """Return a legend above the panels that names every policy."""
        import altair as alt

        look: dict[str, Any] = {}
        if self.dashed:
            look = {"symbolType": "stroke", "symbolStrokeWidth": 3}
        if shown is not None:
            look["values"] = list(shown)
        return alt.Legend(title=None, orient="top", symbolLimit=0, symbolOpacity=1, **look)

    def curves(self, axes: Axes, hints: Sequence[Any]) -> list[alt.Chart]:
        """Return a line per policy with a dot at its end and tooltips."""
        import altair as alt

        keep = f"datum.kind == 'policy' && {axes.shown}"
        base = alt.Chart().transform_filter(keep).encode(x=axes.x, y=axes.y())
        pick = alt.selection_point(name=CHOSEN, fields=["policy"], bind="legend")
        line = base.mark_line(strokeWidth=2).encode(
            color=self.colour(), opacity=self.faded(), **self.dash()
        )
        end = base.transform_filter("datum.mark == 1").mark_point(filled=True, size=36)
        hint = (
            base.properties(name=HINTS)
            .mark_point(size=160, opacity=0)
            .encode(
                tooltip=[
                    alt.Tooltip("policy:N"),
                    alt.Tooltip("censorship:N"),
                    alt.Tooltip("round:Q", format=","),
                    *hints,
                ]
            )
        )
        return [
            line.add_params(pick),
            end.encode(color=self.colour(), opacity=self.faded()),
            hint,
        ]

    def band(self, axes: Axes) -> alt.Chart:
        """Return the 95% intervals, clipped at the bottom of the chart."""
        import altair as alt

        base = alt.Chart().transform_filter(f"datum.kind == 'policy' && {axes.shown}")
        base = base.transform_calculate(
            low=f"max(datum.mean - datum.half, {axes.foot!r})", high="datum.mean + datum.half"
        )
        return base.mark_area().encode(
            x=axes.x, y=axes.y("low"), y2="high:Q", color=self.colour(), opacity=self.faded(0.18)
        )

    def bounds(self, axes: Axes) -> list[alt.Chart]:
        """Return thin labelled lines for proved bounds."""
        import altair as alt

        keep = f"datum.kind == 'bound' && {axes.shown}"
        base = alt.Chart().transform_filter(keep).encode(x=axes.x, y=axes.y())
        line = base.mark_line(strokeWidth=1.2, strokeDash=[5, 3], color=INK)
        text = base.transform_filter("datum.mark == 1").mark_text(
            align="right", baseline="bottom", dx=-2, dy=-4, fontSize=11, color=INK
        )
        return [line.encode(detail="policy:N"), text.encode(text="policy:N")]

    def dash(self, shown: Sequence[str] | None = None) -> dict[str, Any]:
        """Return dash patterns where colours alone do not distinguish policies."""
        import altair as alt

        if not self.dashed:
            return {}
        names = list(self.study.policies)
        dashes = [list(DASHES[i // len(PALETTE) % len(DASHES)]) for i in range(len(names))]
        scale = alt.Scale(domain=names, range=dashes)
        return {
            "strokeDash": alt.StrokeDash(
                "policy:N", sort=names, scale=scale, legend=self.legend(shown)
            )
        }

    def faded(self, usual: float = 1.0) -> Any:
        """Return an opacity that lets the policies picked in the legend stand out."""
        import altair as alt

        return alt.condition({"param": CHOSEN}, alt.value(usual), alt.value(0.12 * usual))

    def draw(
        self,
        name: str,
        titles: tuple[str, str, str],
        layers: Sequence[Any],
        rows: Rows,
        key: str,
        *,
        height: Any = HEIGHT,
        legend: bool = True,
        names: Sequence[str] | None = None,
    ) -> Figure:
        """Return a figure of one panel per censorship, with title and legend.

        Parameters
        ----------
        name
            File name of the figure.
        titles
            The figure's title, how to read it, and the problem's name.
        layers
            Marks without data.
        rows, key
            Their data and its name.
        height
            Of a panel.
        legend
            Whether colours are explained.
        names
            The censorships drawn, if not all.
        """
        names = list(self.study.censorships if names is None else names)
        entries = list(self.study.policies) if legend else []
        return faceted(
            name,
            titles,
            layers,
            rows,
            key,
            height,
            field="censorship",
            names=names,
            entries=entries,
            widths=self.study.policies,
        )


def faceted(
    name: str,
    titles: tuple[str, str, str],
    layers: Sequence[Any],
    rows: Rows,
    key: str,
    height: Any = HEIGHT,
    *,
    field: str = "panel",
    names: Sequence[str] = (),
    entries: Sequence[str] = (),
    widths: Iterable[str] = ("",),
) -> Figure:
    """Return a figure of one panel per value of a field, with title and legend.

    Parameters
    ----------
    name, titles, layers, rows, key, height
        As in `Panels.draw`.
    field, names
        The field that defines the panels, and its values; without values there is one panel.
    entries
        What the legend names, if there is one.
    widths
        Names that the legend's columns must be wide enough for.
    """
    import altair as alt

    header = alt.Header(
        title=None,
        **({} if names else {"labelExpr": "''"}),
        labelAnchor="start",
        labelFontSize=13,
        labelFontWeight=600,
        labelColor=INK,
        labelLimit=WIDTH,
        labelPadding=6,
    )
    count = max(len(names), 1)
    chart = (
        alt.layer(*layers)
        .properties(width=WIDTH, height=height)
        .facet(
            facet=alt.Facet(f"{field}:N", sort=list(names), header=header),
            columns=columns(count),
            spacing=28,
            data=alt.NamedData(name=key),
        )
        .resolve_axis(x="independent")
    )
    spec = chart.to_dict()
    spec["config"] = config(list(widths))
    title, note, subject = titles
    spec["title"] = {"text": f"{title}: {subject}", "subtitle": _folded(note)}
    spec["usermeta"] = {
        "columns": columns(count),
        "panels": count,
        "legend": min(max(map(len, entries), default=0), 34),
        "tall": isinstance(height, int),
    }
    return Figure(name, title, note, spec, key, rows)


def columns(panels: int) -> int:
    """Return how many panels stand side by side."""
    return 2 if panels == 4 else min(panels, 3)


def config(policies: Sequence[str]) -> dict[str, Any]:
    """Return fonts, colours and spacing."""
    return {
        "font": FONT,
        "background": "white",
        "view": {"stroke": None},
        "axis": {
            "labelColor": MUTED,
            "labelFontSize": 12,
            "titleColor": MUTED,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": GRID,
            "domainColor": MUTED,
            "tickColor": MUTED,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
        },
        "legend": {
            "labelColor": INK,
            "labelFontSize": 13,
            "titleColor": MUTED,
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "labelLimit": 240,
            "columns": max(1, min(len(policies), 100 // (max(map(len, policies)) + 4))),
            "columnPadding": 20,
            "rowPadding": 4,
            "offset": 14,
        },
        "title": {
            "anchor": "start",
            "color": INK,
            "fontSize": 16,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "subtitlePadding": 6,
            "offset": 14,
            "limit": 800,
        },
    }


def _folded(note: str, width: int = 140) -> list[str]:
    import textwrap

    return textwrap.wrap(note, width)
