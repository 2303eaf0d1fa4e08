"""The figures of a run, kept as JSON, and the table of ``README.md`` that is made of them.

A figure that no run printed cannot get into the table: it has nothing but this file. What the run did not measure, or
failed to, is said to be so.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ..wording import counted
from .bounds import BOUNDS, Bound
from .table import Line, as_json, number

FILE = Path(__file__).with_name("figures.json")  # what the table of README.md is made of
NOT_MEASURED = "not measured"
MANY = 4  # lines of one bound of which the table gives the lowest and the highest only
EVEN = "an even score for both"  # beside whom what a scheme expects is judged in any case


def machine() -> dict[str, Any]:
    """What of the machine and the day belongs beside figures."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
    }


def keep(path: Path, run: Mapping[str, Any], measured: Mapping[str, Section], *, beside: bool) -> None:
    """Write the figures of a run, in place of those of the file.

    Args:
        path: the file.
        run: when it began, its size and rounds, by name.
        measured: its sections.
        beside: the sections of the file that this run did not measure stay, with the run that did.
    """
    sections = read(path) if beside and path.exists() else {}
    for name, section in measured.items():
        sections[name] = {
            "run": dict(run),
            "seconds": round(section.seconds, 1),
            "failed": section.failure,
            "lines": [_short(line) for line in as_json(section.lines)],
        }
    path.write_bytes(orjson.dumps({"sections": sections}, option=orjson.OPT_INDENT_2) + b"\n")


def read(path: Path = FILE) -> dict[str, Any]:
    """The sections of a file of figures by name; none where there is no file."""
    sections: dict[str, Any] = orjson.loads(path.read_bytes())["sections"] if path.exists() else {}
    return sections


def _short(line: dict[str, Any]) -> dict[str, Any]:
    """A line without its single rounds, four digits of each figure."""
    kept = {name: value for name, value in line.items() if not name.endswith("_rounds")}
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in kept.items()}


def table(sections: Mapping[str, Any]) -> str:
    """The table of what is judged, a row for each bound, and who measured it when."""
    rows = [
        f"| {bound.what} ({bound.unit}) | {bound.rival} | {_bounds(bound)} | {_ratios(bound, sections)} |"
        for bound in BOUNDS
        if bound.at_least is not None or bound.aim is not None
    ]
    head = ["| what (unit) | divided by | bound | quotient |", "|---|---|---|---|"]
    return "\n".join([*_runs(sections), "", *head, *rows, "", _errors(sections)])


def _runs(sections: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each run that measured sections of the file."""
    runs = {section["run"]["began"]: section["run"] for section in sections.values()}
    for began, run in sorted(runs.items()):
        measured = [name for name, section in sections.items() if section["run"]["began"] == began]
        minutes = sum(sections[name]["seconds"] for name in measured) / 60
        yield (
            f"Run of {began}, size `{run['size']}`, {counted(run['rounds'], 'round')}, {run['cores']} cores, "
            f"Python {run['python']}, {minutes:.0f} minutes: {', '.join(measured)}."
        )
    if not runs:
        yield "Nothing was measured yet."


def _bounds(bound: Bound) -> str:
    aim = f"aim {bound.written(bound.aim)}" if bound.aim is not None else ""
    return ", ".join(filter(None, [bound.written(bound.at_least), aim]))


def _ratios(bound: Bound, sections: Mapping[str, Any]) -> str:
    section = sections.get(bound.section)
    if section is None:
        return NOT_MEASURED
    lines = [line for line in section["lines"] if line["bound"] == bound.name]
    judged = [line for line in lines if line["reached"] is not None]
    if not judged:
        why = f"; the section failed: {section['failed']}" if section["failed"] else ""
        return f"{NOT_MEASURED}{' on so many games' if lines else ''}{why}"
    if len(judged) > MANY:
        missed = sum(line["reached"] == "MISSED" for line in judged)
        ratios = [line["ratio"] for line in judged]
        said = f", {missed} missed" if missed else ""
        return f"{number(min(ratios))} to {number(max(ratios))} ({len(judged)} lines{said})"
    return "; ".join(map(_ratio, judged))


def _ratio(line: Mapping[str, Any]) -> str:
    where = f"{line['where']}: " if line["where"] else ""
    return f"{where}{number(line['ratio'])}{', missed' if line['reached'] == 'MISSED' else ''}"


def _errors(sections: Mapping[str, Any]) -> str:
    """How well the schemes foretold the real games, by those lines that every run of the section has."""
    lines = sections["schemes"]["lines"] if "schemes" in sections else ()
    errors = {
        line["what"].partition(",")[0]: line["ours"]
        for line in lines
        if line["bound"] == "scheme-accuracy" and (line["rival_name"], line["unit"]) == (EVEN, "log-loss")
    }
    said = ", ".join(f"`{scheme}` {error:.3f}" for scheme, error in sorted(errors.items(), key=lambda item: item[1]))
    return f"Predictions over the same games (log-loss; 0.693 is an even score for both): {said or NOT_MEASURED}."


class Section:
    """What a section of a run gave: its lines so far, the seconds that it took, and why it ended early, if it did."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.seconds = 0.0
        self.failure: str | None = None


def failures(sections: Mapping[str, Section]) -> Sequence[str]:
    """A sentence for each section that failed."""
    return [f"{name}: {section.failure}" for name, section in sections.items() if section.failure]
