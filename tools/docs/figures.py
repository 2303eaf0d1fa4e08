"""The tables of the benchmark's README, made of the figures that a run kept, and of those that a test computes again.

A figure that no run printed cannot get into those tables: they have nothing but the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from ..bench.table import ACCURACY, BOUNDS, EVEN, FIDE, MISSED, SECTIONS, SYSTEMS, Bound, between, number
from ..wording import counted

NOT_MEASURED = "not measured"


def readme(sections: Mapping[str, Any]) -> str:
    """Return the table of the README: a row for each bound that is judged, and when it was measured."""
    table = ["| what (unit) | divided by | bound (aim) | quotient |", "|---|---|---|---|"]
    for bound in [bound for bound in BOUNDS if bound.is_judged]:
        at_least, aim = bound.written()
        wanted = f"{at_least} ({aim})" if at_least and aim else at_least or f"({aim})"
        ratios = _ratios(bound, sections.get(bound.section, {"lines": (), "failed": None}))
        table.append(f"| {bound.what} ({bound.unit}) | {bound.rival} | {wanted} | {ratios} |")
    errors = sorted(
        (line["ours"], line["what"].partition(",")[0])
        for line in sections.get("schemes", {"lines": ()})["lines"]
        if (line["bound"], line["rival_name"], line["unit"]) == ("scheme-accuracy", EVEN, "log-loss")
    )
    words = ", ".join(f"`{scheme}` {error:.3f}" for error, scheme in errors) or NOT_MEASURED
    predictions = f"Predictions over the same games (log-loss; 0.693 is {EVEN}): {words}."
    return "\n".join([*_runs(sections), "", *table, "", predictions])


def accuracy() -> str:
    """Return the table of the schemes' accuracy, the best first, and the schemes that are not in it."""
    figures = orjson.loads(ACCURACY.read_bytes())
    table = ["| system | log-loss × 100 (95 %) | published | more than FIDE's lists (95 %) |", "|---|---|---|---|"]
    for name, error in sorted(figures.items(), key=lambda item: item[1]["excess"]):
        published = SYSTEMS["compared"].get(name, {}).get("published")
        more = "" if name == FIDE else f"{error['excess']:.2f} ({between(error['excess_interval'])})"
        loss = f"{error['log_loss']:.2f} ({between(error['interval'])})"
        table.append(f"| {name} | {loss} | {'' if published is None else f'{published:.2f}'} | {more} |")
    games, listed = max(error["games"] for error in figures.values()), figures[FIDE]["games"]
    left_out = "; ".join(f"`{scheme}` ({reason})" for scheme, reason in SYSTEMS["left_out"].items())
    words = f"Games: {games:,}, of which {listed:,} with FIDE's rating of both sides. Left out: {left_out}."
    return "\n".join([*table, "", words])


def _runs(sections: Mapping[str, Any]) -> Iterator[str]:
    for began in sorted({section["run"]["began"] for section in sections.values()}):
        of_run = {name: section for name, section in sections.items() if section["run"]["began"] == began}
        run, minutes = next(iter(of_run.values()))["run"], sum(section["seconds"] for section in of_run.values()) / 60
        names = "every section" if set(of_run) == set(SECTIONS) else ", ".join(of_run)
        size = f"size `{run['size']}`, {counted(run['rounds'], 'round')}, {run['cores']} cores"
        yield f"Run of {began}, {size}, Python {run['python']}, {minutes:.0f} minutes: {names}."


def _ratios(bound: Bound, section: Mapping[str, Any]) -> str:
    lines = [line for line in section["lines"] if line["bound"] == bound.name]
    judged = [line for line in lines if line["reached"] is not None]
    missed = sum(line["reached"] == MISSED for line in judged)
    if not judged:
        why = f"; the section failed: {section['failed']}" if section["failed"] else ""
        return f"{NOT_MEASURED}{' at this size' if lines else ''}{why}"
    if len(judged) > 2:  # the lowest and the highest alone
        ratios = [line["ratio"] for line in judged]
        words = f", {missed} of {len(judged)} missed" if missed else ""
        return f"{number(min(ratios))} to {number(max(ratios))}{words}"
    wheres = (f"{line['where']}: " if line["where"] else "" for line in judged)
    quotients = (number(line["ratio"]) + (", missed" if line["reached"] == MISSED else "") for line in judged)
    return "; ".join(map("".join, zip(wheres, quotients, strict=True)))
