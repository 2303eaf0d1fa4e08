"""The lines of the benchmark: how they are judged, printed, and kept as JSON. No measuring, nothing heavy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import attrs
import orjson
import tabulate
from attrs.validators import and_, deep_iterable, gt, min_len, optional

AIM, AT_LEAST, MISSED, NOTHING_WANTED = "aim", "at least", "MISSED", ""  # what a ratio reached
CPU = " CPU"  # ends the unit of a figure by the processor
LEGEND = """\
ours / rival: our figure divided by the rival's, both in the unit of the line, medians of rounds taken in turns;
of rounds: the lowest and the highest quotient of a single round. Times and memory should give a small quotient
(<=), rates a large one (>=). CPU: of the processor, all processes together; without it: of the clock.
"""
FILE = Path(__file__).with_name("figures.json")  # of which tools.docs makes the table of the README
SYSTEMS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("systems.toml").read_text("utf-8"))
ACCURACY = Path(__file__).with_name("accuracy.json")  # their figures, of which tools.docs makes a table as well
FIDE = "FIDE's lists"  # what these are compared with
EVEN = "an even score for both"  # the rival of every prediction
_quotient: Any = attrs.field(default=None, validator=optional(gt(0)))
_figures: Any = attrs.field(validator=and_(min_len(1), deep_iterable(gt(0))))


@attrs.frozen(kw_only=True)
class Bound:
    """One comparison: our figure, the rival's, and the quotient that is wanted. ``lines.toml`` explains the fields."""

    name: str
    section: str
    what: str
    rival: str
    unit: str
    at_least: float | None = _quotient
    aim: float | None = _quotient
    judged_from: int = 0
    needs: str = ""

    def __attrs_post_init__(self) -> None:
        """Refuse an aim that is easier than the bound."""
        if self.at_least is not None and self.aim is not None and not self.meets(self.aim, self.at_least):
            raise ValueError(f"{self.name}: the aim {self.aim:g} is easier than the bound {self.at_least:g}")

    @property
    def small_is_good(self) -> bool:
        """True of times and memory, False of rates."""
        return "/s" not in self.unit

    @property
    def is_judged(self) -> bool:
        """True if a quotient is wanted."""
        return self.at_least is not None or self.aim is not None

    def meets(self, ratio: float, wanted: float | None) -> bool:
        """Return whether a quotient is wanted, and the ratio is as good or better."""
        return wanted is not None and (ratio <= wanted if self.small_is_good else ratio >= wanted)

    def judged(self, ratio: float) -> str:
        """Return what a ratio reached."""
        if not self.is_judged:
            return NOTHING_WANTED
        return AIM if self.meets(ratio, self.aim) else AT_LEAST if self.meets(ratio, self.at_least) else MISSED

    def written(self) -> tuple[str, str]:
        """Return the bound and the aim with their direction, such as ``<= 2``; empty if there is none."""
        sign = "<=" if self.small_is_good else ">="
        at_least, aim = ("" if wanted is None else f"{sign} {wanted:g}" for wanted in (self.at_least, self.aim))
        return at_least, aim


BY_NAME: Mapping[str, Bound] = {
    name: Bound(name=name, section=section, **fields)
    for section, lines in tomllib.loads(Path(__file__).with_name("lines.toml").read_text("utf-8")).items()
    for name, fields in lines.items()
}
BOUNDS: Sequence[Bound] = tuple(BY_NAME.values())
SECTIONS: Sequence[str] = tuple(dict.fromkeys(bound.section for bound in BOUNDS))


@attrs.frozen
class Line:
    """Compare our figure of each round with the rival's, or with one for all rounds; *where*: the games or the load."""

    bound: Bound
    where: str
    ours: tuple[float, ...] = _figures
    theirs: tuple[float, ...] = _figures

    def __attrs_post_init__(self) -> None:
        """Refuse different numbers of rounds."""
        if len(self.theirs) not in {1, len(self.ours)}:
            raise ValueError(f"{self.bound.name}: {len(self.ours)} rounds of ours, {len(self.theirs)} of the rival")

    @property
    def ratio(self) -> float:
        """Our median figure divided by the rival's."""
        return median(self.ours) / median(self.theirs)

    @property
    def rounds(self) -> list[float]:
        """The ratio of each round."""
        rival = self.theirs * len(self.ours) if len(self.theirs) == 1 else self.theirs
        return [our_figure / their_figure for our_figure, their_figure in zip(self.ours, rival, strict=True)]

    @property
    def reached(self) -> str:
        """The bound that the ratio of the medians reached."""
        return self.bound.judged(self.ratio)

    @property
    def rounds_agree(self) -> bool:
        """True if every single round reached the same; otherwise the noise is too great to judge."""
        return {self.bound.judged(ratio) for ratio in self.rounds} == {self.reached}

    def __str__(self) -> str:
        """Return the division in words, and the quotient."""
        where = f"{self.where}: " if self.where else ""
        divided = f"({self.bound.unit}) {self.bound.what} / {self.bound.rival}"
        return f"{where}{divided} = {number(self.ratio)} {self.reached}".rstrip()


def line(
    name: str, where: str, own: float | Iterable[float], other: float | Iterable[float], *,
    games: int | None = None, **words: Any,
) -> Line:  # fmt: skip
    """Return a line of the bound called *name*, in which attributes of the bound may differ.

    Figures are one or one for each round. With *games* the bound is not judged if these are too few.
    """
    bound = attrs.evolve(BY_NAME[name], **words)
    if games is not None and games < bound.judged_from:
        bound = attrs.evolve(bound, at_least=None, aim=None)
    figures = (tuple(each) if isinstance(each, Iterable) else (each,) for each in (own, other))
    return Line(bound, where, *figures)


def number(value: float) -> str:
    """Write a figure with three significant digits at least: 0.0123, 4.56, 78.9, 1,234,567."""
    if abs(value) >= 10:
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def between(interval: Sequence[float]) -> str:
    """Write an interval of log-loss × 100."""
    low, high = interval
    return f"{low:.2f} to {high:.2f}"


def render(lines: Sequence[Line]) -> str:
    """Lay the lines out as an aligned table, numbers to the right."""
    headings = ("what", "unit", "ours", "rival", "rival's", "ours / rival", "of rounds", "at least", "aim", "reached")
    rows = [
        (
            f"{each.where}: {each.bound.what}" if each.where else each.bound.what, each.bound.unit,
            number(median(each.ours)), each.bound.rival, number(median(each.theirs)), number(each.ratio),
            f"{number(min(each.rounds))}..{number(max(each.rounds))}", *each.bound.written(),
            each.reached if each.rounds_agree else f"{each.reached} (rounds differ)",
        )
        for each in lines
    ]  # fmt: skip
    sides = ("left", "left", "right", "left", *["right"] * 5, "left")
    return tabulate.tabulate(rows, headings, colalign=sides, disable_numparse=True)


def as_json(line: Line) -> dict[str, Any]:
    """Return a line as a plain dictionary: medians, their quotient, and the single figures of the rounds."""
    bound, rounds = line.bound, line.rounds
    values = {
        "bound": bound.name, "where": line.where, "what": bound.what, "rival_name": bound.rival, "unit": bound.unit,
        "small_is_good": bound.small_is_good, "ours": median(line.ours), "rival": median(line.theirs),
        "ratio": line.ratio, "lowest": min(rounds), "highest": max(rounds), "at_least": bound.at_least,
        "aim": bound.aim, "reached": line.reached or None, "rounds_agree": line.rounds_agree,
    }  # fmt: skip
    return values | {"our_rounds": list(line.ours), "rival_rounds": list(line.theirs)}


@attrs.define
class Section:
    """The lines of a section so far, the seconds of the clock and the processor, and why it ended early, if it did."""

    lines: list[Line] = attrs.Factory(list)
    seconds: float = 0.0
    cpu: float = 0.0
    failure: str | None = None


def keep(path: Path, run: Mapping[str, Any], measured: Mapping[str, Section], *, beside: bool) -> None:
    """Write the figures of a run into a file; *beside*: keep its other sections, with the run that measured them."""
    sections = read(path) if beside else {}
    for name, section in measured.items():
        about = {"run": dict(run), "seconds": round(section.seconds, 1), "failed": section.failure}
        lines = [
            {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in as_json(line).items()}
            for line in section.lines
        ]
        sections[name] = {**about, "lines": [{k: v for k, v in each.items() if k[-7:] != "_rounds"} for each in lines]}
    path.write_bytes(orjson.dumps({"sections": sections}, option=orjson.OPT_INDENT_2) + b"\n")


def read(path: Path = FILE) -> dict[str, Any]:
    """Return the sections of a file of figures by name; none without a file."""
    return dict(orjson.loads(path.read_bytes())["sections"]) if path.exists() else {}


def seconds(sections: Mapping[str, Section]) -> str:
    """Return the seconds of every section, by the clock and by the processor, and their sum."""
    rows = [(name, section.seconds, section.cpu) for name, section in sections.items()]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(f"{name:<14}{clock:>8,.1f} s{cpu:>8,.1f} s CPU" for name, clock, cpu in rows)
