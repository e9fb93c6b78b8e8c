"""The sections of the page, in the order they are read."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from halfseen.phrases import counted, number
from halfseen.report.core.document import code, figure_place, section, top
from halfseen.report.core.markup import Html, aligned, escape, table, tag
from halfseen.report.core.panels import Figure
from halfseen.report.study.answers import (
    ONE_REPLICATION,
    WORST_CASE,
    WORST_CASE_LINEAR,
    Answer,
    answers,
    assumption,
    headline,
    imputation,
    surprise,
    times,
)
from halfseen.report.study.leaders import in_a_sentence
from halfseen.report.study.policy_parameters import parameters_in_words
from halfseen.studies.named_kinds import own_modules
from halfseen.studies.policy_comparison import leaders
from halfseen.studies.result import Result
from halfseen.studies.study import Study
from halfseen.studies.toml_text import to_toml
from halfseen.tables import decimals_of_errors, listed, percent, show

SPEC_SHOWN = 40_000  # characters
SHARES = {"share seen": "share seen", "pending": "share pending", "lost": "share lost"}
CHAPTERS = {
    "best": "Best policy",
    "answer": "Answer",
    "run": "What was run",
    "numbers": "Numbers",
    "charts": "Charts",
    "growth": "Potential",
    "bounds": "Bounds",
    "lower": "Lower bounds",
    "events": "Rare events",
    "again": "Run it again",
}


def head(result: Result) -> Html:
    """Return the title, the answer in one sentence, and where to find the rest."""
    study = result.study
    answer = headline(result)
    names = (
        ("problem", len(study.problems)),
        ("censorship", len(study.censorships)),
        ("policy", len(study.policies)),
        ("round", study.horizon),
        ("replication", study.replications),
    )
    facts = ", ".join(counted(what, count) for what, count in names)
    parts = [in_a_sentence(leaders(result))] if len(study.policies) > 1 else []
    parts += [_lead(answer, len(study.problems) > 1)] if answer is not None else []
    links = {
        name: title
        for name, title in CHAPTERS.items()
        if name != "growth" or (study.linear and 1.0 in study.alphas)
    }
    lead = " ".join(parts) or "Nothing was run."
    return top(f"A study with halfseen: {facts}", page_title(study), lead, links)


def page_title(study: Study) -> str:
    """Return what the page is about: the policies and the problems they were run on."""
    problems, policies = list(study.problems), list(study.policies)
    whose = policies[0] if len(policies) == 1 else f"{len(policies):,} policies"
    where = f"“{problems[0]}”" if len(problems) == 1 else counted("problem", len(problems))
    return f"Regret of {whose} on {where}"


def answer_section(result: Result, rest: str) -> Html:
    """Return the answer for every censorship, and how to read it."""
    study = result.study
    content: list[object] = []
    notes: list[str] = []
    for i, problem in enumerate(study.problems):
        found = answers(result, i)
        if len(study.problems) > 1:
            content.append(tag("h3", problem))
        content.append(tag("ul", *(_item(answer) for answer in found), class_="answers"))
        content += _surprises(found)
        extra = imputation(result, i)
        notes += [f"{problem}: {n}" for n in extra] if len(study.problems) > 1 else extra
    if rest:
        content.append(tag("p", f"{rest} The rest is in the table of numbers.", class_="note"))
    if notes:
        content.append(tag("h3", "What imputing rewards costs"))
        content.append(tag("ul", *(tag("li", note) for note in notes)))
    content.append(tag("h3", "How to read these numbers"))
    if study.replications == 1:
        content.append(tag("p", ONE_REPLICATION))
    worst = WORST_CASE_LINEAR if study.linear else WORST_CASE
    content += [tag("p", worst), tag("p", assumption(study), class_="caution")]
    first = next(iter(study.policies))
    return section("answer", f"The cost for {first}, censorship by censorship", *content)


def run_section(result: Result) -> Html:
    """Return what was run, in words."""
    study = result.study
    problems = [(n, bandit.in_words()) for n, bandit in study.bandits.items()]
    censorships = [(n, c.in_words()) for n, c in study.censorships.items()]
    policies = [(n, p.in_words(), parameters_in_words(p)) for n, p in study.policies.items()]
    tables = [
        table(heads, rows, words=(0, 1, 2), label=heads[0])
        for heads, rows in (
            (("problem", "what it pays"), problems),
            (("censorship", "what is seen"), censorships),
            (("policy", "what it does", "parameters"), policies),
        )
    ]
    rounds, repeats = counted("round", study.horizon), counted("replication", study.replications)
    intro = (
        f"Every policy played every problem under every censorship for {rounds},"
        f" {repeats} each, from seed {study.seed}. They all face the same draws of the rewards."
    )
    return section("run", "What was run", tag("p", intro), *tables)


def numbers_section(result: Result) -> Html:
    """Return the summary table."""
    records = result.summary().records()
    single = len(result.study.problems) == 1
    linear = result.study.linear
    size, worst = ("dimension", "d/p_min") if linear else ("arms", "effective dimension")
    decimals = decimals_of_errors([r["± 95%"] for r in records])
    columns: dict[str, Sequence[object]] = {
        "censorship": _once([r["problem"] + "\0" + r["censorship"] for r in records]),
        "policy": [r["policy"] for r in records],
        "regret": aligned([r["regret"] for r in records], decimals=decimals),
        "± 95%": aligned([r["± 95%"] for r in records], decimals=decimals),
        "times as large": aligned([r["factor"] for r in records], "×", decimals=2),
        **{
            label: aligned([100.0 * r[name] for r in records], "%")
            for label, name in SHARES.items()
            if name in records[0]
        },
        size: [f"{r[size]:,}" for r in records],
        worst: aligned([r[worst] for r in records]),
    }
    if not single:
        columns = {"problem": _once([r["problem"] for r in records])} | columns
    groups = [
        i == 0
        or (r["problem"], r["censorship"])
        != (records[i - 1]["problem"], records[i - 1]["censorship"])
        for i, r in enumerate(records)
    ]
    rows = list(zip(*columns.values(), strict=True))
    one = "action on offer" if linear else "arm"
    note = (
        f"Regret is the reward lost compared with always playing the best {one}, on average over"
        " replications. “Times as large” compares with the same policy where everything is seen."
        " The same numbers are in summary.csv, next to this page."
    )
    words = range(2 if single else 3)
    return section(
        "numbers",
        f"Regret after {counted('round', result.study.horizon)}",
        tag("p", note, class_="note"),
        table(tuple(columns), rows, words=words, label="Summary", groups=groups),
        *_winners(result, {name: columns[name] for name in list(columns)[: len(words)]}, groups),
    )


def _winners(
    result: Result, names: dict[str, Sequence[object]], groups: Sequence[bool]
) -> tuple[Html, ...]:
    """Return the rounds to a winner in every cell; nothing without a stopping rule."""
    if result.study.stop is None:
        return ()
    records = result.summary().records()
    columns = names | {
        "winner declared": [percent(r["winner declared"]) for r in records],
        "rounds to winner": aligned([r["rounds to winner"] for r in records]),
        "winner right": [
            "–" if r["winner right"] is None else percent(r["winner right"]) for r in records
        ],
    }
    note = (
        f"The winner is the first arm shown to be the best at level {result.study.level:g}, looking"
        " after every observation. “Declared” is the share of replications with a winner, “rounds"
        " to winner” the median, left out where at most half of them have one, “right” the share"
        " of winners that are best arms."
    )
    rows = list(zip(*columns.values(), strict=True))
    words = range(len(names))
    return (
        tag("p", note, class_="note"),
        table(tuple(columns), rows, words=words, label="Winners", groups=groups),
    )


def charts_section(result: Result, drawn: dict[int, list[Figure]], rest: str) -> Html:
    """Return a placeholder for every chart."""
    names = list(result.study.problems)
    content: list[object] = []
    for problem, figures in drawn.items():
        if len(names) > 1:
            content.append(tag("h2", f"Problem “{names[problem]}”", class_="problem"))
        content += map(figure_place, figures)
    intro = (
        "One panel per censorship. Click a policy’s name to single it out, point at a curve for its"
        " numbers. The same charts are in the folder charts, as SVG and PNG."
    )
    intro = f"{intro} {rest}".strip()
    return section("charts", "Charts", tag("p", intro, class_="note"), *content)


def again_section(result: Result) -> Html:
    """Return how to reproduce the numbers."""
    facts = list(result.facts.values())
    seconds = sum(f.get("seconds", 0.0) for f in facts)
    engines = sorted({str(f["engine"]) for f in facts if "engine" in f})
    versions = sorted({f"{k} {v}" for f in facts for k, v in f.get("versions", {}).items()})
    rows = [
        ("simulated in", f"{show(float(seconds))} seconds"),
        ("engine", ", ".join(engines) or "not recorded"),
        ("versions", ", ".join(versions) or "not recorded"),
    ]
    if not result.study.functions:
        rows.append(("digest of the study", result.study.digest()))
    known = table(("fact", "value"), rows, words=(0, 1), label="Facts")
    if result.study.functions:
        note = (
            f"The study contains Python functions ({', '.join(result.study.functions)}), so that no"
            " specification can be written. Run the same program again."
        )
        return section("again", "Run it again", tag("p", note), known)
    spec = to_toml(result.study)
    rest = "\n… (the rest is in spec.toml)"
    shown = code(spec, tabindex="0")
    if len(spec) > SPEC_SHOWN:
        shown = tag("pre", tag("code", Html(html.escape(spec[:SPEC_SHOWN] + rest))), tabindex="0")
    return section(
        "again",
        "Run it again",
        tag("p", "Save the specification below (it is also next to this page) and run:"),
        code(f"halfseen study spec.toml --out DIR{imports(result.study)}"),
        tag("p", "The same specification gives the same numbers, on any number of cores."),
        shown,
        known,
    )


def imports(study: Study) -> str:
    """Return the options of the command that import the modules of the user's own kinds."""
    return "".join(f" --import {module}" for module in own_modules(study.nouns().values()))


def _lead(answer: Answer, several: bool) -> str:
    """Return the largest effect of missing feedback as one short sentence."""
    problem, censorship, policy = answer.place.names
    where = f" under “{censorship}”" + (f" on “{problem}”" if several else "")
    if answer.whole is None:
        return f"There is no run where everything is seen to compare {policy} with."
    if answer.place.censorship.sees_everything:
        return "No feedback is missing."
    if not answer.certain or answer.factor is None:
        return f"Missing feedback has no clear effect on the regret of {policy}."
    if answer.factor < 1.0:
        return f"Missing feedback lowers the regret of {policy} to {times(answer.factor)}{where}."
    return f"Missing feedback makes the regret of {policy} {times(answer.factor)} as large{where}."


def _item(answer: Answer) -> Html:
    place = answer.place
    factor = "–" if answer.factor is None else times(answer.factor).removesuffix(" times") + "×"
    size = number(place.dimension)
    dimension = (
        f"Dimension {place.arms:,}, worst case {size}."
        if place.linear
        else f"{counted('arm', place.arms)}, effective dimension {size}."
    )
    if place.censorship.by_reward:
        dimension = "What is missing depends on the reward: no effective dimension describes it."
    elif math.isnan(place.dimension):
        dimension = f"Dimension {place.arms:,}; d/p_min is not known for a Python function."
    return tag(
        "li",
        tag("div", factor, class_="factor" if answer.certain else "factor unsure"),
        tag(
            "div",
            tag("h4", place.names[1]),
            tag("p", answer.sentence),
            tag("p", dimension, class_="note"),
        ),
    )


def _surprises(found: Sequence[Answer]) -> list[Html]:
    """Return why regret is lower where feedback is missing, each reason once."""
    reasons: dict[str, list[str]] = {}
    for answer in found:
        if reason := surprise(answer):
            reasons.setdefault(reason, []).append(f"“{answer.place.names[1]}”")
    return [
        tag("p", f"{listed(where, 4)}: {reason}", class_="note")
        for reason, where in reasons.items()
    ]


def _once(values: Sequence[str]) -> list[Html]:
    """Show a name once and hide its repetitions visually; screen readers still read them."""
    shown = []
    for i, value in enumerate(values):
        text = escape(value.rpartition("\0")[2])
        again = i > 0 and values[i - 1] == value
        shown.append(repeated(text) if again else text)
    return shown


def repeated(name: str) -> Html:
    """Return a name that is visually hidden but read by screen readers."""
    return tag("span", name, class_="again")
