"""The figures of a run, kept as JSON, and the table of the README that is made of them.

A figure that no run printed cannot get into the table: it has nothing but this file. The table names what the run did
not measure, or failed to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import orjson

from ..wording import counted
from .table import BOUNDS, SECTIONS, Bound, Line, as_json, number

FILE = Path(__file__).with_name("figures.json")  # what the table of the README is made of
NOT_MEASURED = "not measured"
MANY = 2  # lines of one bound of which the table gives the lowest and the highest only
EVEN = "an even score for both"  # the rival of every prediction


@attrs.define
class Section:
    """The lines of a section so far, the seconds of the clock and the processor, and why it ended early, if it did."""

    lines: list[Line] = attrs.Factory(list)
    seconds: float = 0.0
    cpu: float = 0.0
    failure: str | None = None


def keep(path: Path, run: Mapping[str, Any], measured: Mapping[str, Section], *, beside: bool) -> None:
    """Write the figures of a run into a file; *beside*: its other sections stay, with the run that measured them."""
    sections = read(path) if beside and path.exists() else {}
    for name, section in measured.items():
        sections[name] = {
            "run": dict(run),
            "seconds": round(section.seconds, 1),
            "failed": section.failure,
            "lines": [
                {
                    name: float(f"{value:.4g}") if isinstance(value, float) else value
                    for name, value in as_json(line).items()
                    if not name.endswith("_rounds")
                }
                for line in section.lines
            ],
        }
    path.write_bytes(orjson.dumps({"sections": sections}, option=orjson.OPT_INDENT_2) + b"\n")


def read(path: Path = FILE) -> dict[str, Any]:
    """Return the sections of a file of figures by name, none without a file."""
    sections: dict[str, Any] = orjson.loads(path.read_bytes())["sections"] if path.exists() else {}
    return sections


def table(sections: Mapping[str, Any]) -> str:
    """Return the table: a row for each bound that is judged, and when it was measured."""
    rows = [
        f"| {bound.what} ({bound.unit}) | {bound.rival} | {_wanted(bound)} | {_ratios(bound, sections)} |"
        for bound in BOUNDS
        if bound.is_judged
    ]
    head = ["| what (unit) | divided by | bound (aim) | quotient |", "|---|---|---|---|"]
    return "\n".join([*_runs(sections), "", *head, *rows, "", _errors(sections)])


def _runs(sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each run that measured sections of the file."""
    runs = {section["run"]["began"]: section["run"] for section in sections.values()}
    for began, run in sorted(runs.items()):
        measured = [name for name, section in sections.items() if section["run"]["began"] == began]
        names = "every section" if set(measured) == set(SECTIONS) else ", ".join(measured)
        minutes = sum(sections[name]["seconds"] for name in measured) / 60
        yield (
            f"Run of {began}, size `{run['size']}`, {counted(run['rounds'], 'round')}, {run['cores']} cores, "
            f"Python {run['python']}, {minutes:.0f} minutes: {names}."
        )
    if not runs:
        yield "Nothing was measured yet."


def _wanted(bound: Bound) -> str:
    at_least, aim = bound.written()
    return f"{at_least} ({aim})" if at_least and aim else at_least or f"({aim})"


def _ratios(bound: Bound, sections: Mapping[str, Any]) -> str:
    section = sections.get(bound.section)
    if section is None:
        return NOT_MEASURED
    lines = [line for line in section["lines"] if line["bound"] == bound.name]
    judged = [line for line in lines if line["reached"] is not None]
    if not judged:
        why = f"; the section failed: {section['failed']}" if section["failed"] else ""
        return f"{NOT_MEASURED}{' at this size' if lines else ''}{why}"
    if len(judged) > MANY:
        missed = sum(line["reached"] == "MISSED" for line in judged)
        ratios = [line["ratio"] for line in judged]
        missed_words = f", {missed} of {len(judged)} missed" if missed else ""
        return f"{number(min(ratios))} to {number(max(ratios))}{missed_words}"
    return "; ".join(map(_ratio, judged))


def _ratio(line: Mapping[str, Any]) -> str:
    where = f"{line['where']}: " if line["where"] else ""
    return f"{where}{number(line['ratio'])}{', missed' if line['reached'] == 'MISSED' else ''}"


def _errors(sections: Mapping[str, Any]) -> str:
    """Return how well the schemes predicted the real games."""
    lines = sections["schemes"]["lines"] if "schemes" in sections else ()
    errors = {
        line["what"].partition(",")[0]: line["ours"]
        for line in lines
        if line["bound"] == "scheme-accuracy" and (line["rival_name"], line["unit"]) == (EVEN, "log-loss")
    }
    words = ", ".join(f"`{scheme}` {error:.3f}" for scheme, error in sorted(errors.items(), key=lambda item: item[1]))
    return f"Predictions over the same games (log-loss; 0.693 is an even score for both): {words or NOT_MEASURED}."


def seconds(sections: Mapping[str, Section]) -> str:
    """Return the seconds of every section, by the clock and by the processor, and their sum."""
    rows = [(name, section.seconds, section.cpu) for name, section in sections.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(f"{name:<14}{clock:>8,.1f} s{cpu:>8,.1f} s CPU" for name, clock, cpu in rows)
