"""Pages drawn: templates filled with answers, every text in them made harmless and escaped in this one place."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from math import isnan
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any, NamedTuple

import attrs
from jinja2 import BytecodeCache, Environment, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from ledger.answers.asking import format_average
from ledger.answers.boards import PGN_RESULTS
from ledger.answers.graphs import career_svg, looks, mini_boards, png, svg, wording
from ledger.answers.graphs.career import Career
from ledger.answers.graphs.career_svg import CareerLinks
from ledger.answers.graphs.graph_data import Bar, Page, PlayerBars
from ledger.answers.graphs.looks import Look
from ledger.facts.words import Outcome
from ledger.runtime.visible import in_markup, visible

from . import encodings
from .browser_words import in_browser
from .game_pages import board_title
from .get_handlers import PROGRAM
from .page_data import BoardShown
from .sites import Site

_FOLDER = Path(__file__).parent
_TEMPLATES, _STATIC = _FOLDER / "templates", _FOLDER / "static"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DATA = ("bar", "colour")  # what a bar's title does not give the script
MEDIA = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class StaticFile(NamedTuple):
    """A file that is the same for everybody: its bytes, as they are and packed, its media type and which one it is."""

    body: bytes
    packed: bytes
    media: str
    mark: str


@attrs.frozen(kw_only=True)
class Around:
    """The frame of a page: all but its own answer.

    Attributes:
        position: how many entries of the journal it follows from.
        alarm: why the journal must not be trusted in its current state; None: nothing is wrong.
    """

    position: int
    alarm: str | None


class _Compiled(BytecodeCache):
    """The code of each template, made once for all sites that a process draws."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class Renderer:
    """Draws the pages of a site."""

    def __init__(self, site: Site) -> None:
        """Read the templates; each is compiled when it is first drawn, for all of them take a second."""
        self.site = site
        self.files = static_files()
        self._environment = Environment(
            loader=FunctionLoader(_template_files().get),
            autoescape=True,
            auto_reload=False,
            cache_size=-1,
            bytecode_cache=_COMPILED,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_harmless,
        )
        self._environment.globals |= {
            "site": site,
            "to": site.to,
            "file": self.file,
            "program": PROGRAM,
            "graph": self.graph,
            "career": self.career,
            "board_words": board_words,
            "has_pictures": png.is_available(),
            "tip": tip,
        }
        self._environment.filters |= FILTERS

    def page(self, template: str, answer: Any, around: Around) -> bytes:
        """Return a page.

        Args:
            template: name of the file.
            answer: what it shows, as ``page`` in the template.
            around: the frame.
        """
        drawn = self._environment.get_template(template).render(page=answer, around=around)
        return drawn.encode("utf-8", "backslashreplace")

    def file(self, name: str) -> str:
        """Return the address of a static file, by which browsers know whether they have it."""
        return self.site.to("/static/{}", name, v=self.files[name].mark)

    def graph(self, page: Page, *, opponents: bool, mono: bool, has_heading: bool = True) -> Markup:
        """Return a rating graph whose bars lead to their games; its look comes from the style sheet."""
        look = Look(opponents=opponents, mono=mono)

        def link(_: PlayerBars, bar: Bar) -> str:
            return self.site.to("/games/{}", bar.game)

        definitions = f"<defs>{looks.pattern_definitions(look)}</defs>"
        return Markup(svg.draw_fragment(page, look, link, definitions, data=_DATA, has_heading=has_heading))  # noqa: S704  # escaped

    def career(self, career: Career, shown: Page, *, height: int, **query: object) -> Markup:
        """Return a player's career, in which the games of a graph are marked; its parts lead to those games."""
        bars, to = shown.player.bars, self.site.to
        links = CareerLinks(
            page=lambda page: to("/players/{}", career.player, page=page, **query),
            tournament=lambda mark: self.site.tournament(mark.tournament, pool=career.pool, edition=mark.ended_at),
            published=lambda name: to("/lists/{}", list_name(name), edition=name.rpartition("/")[2]),
        )
        # One for a desk and one for a phone, of which the style sheet shows the one that fits.
        drawn = [
            career_svg.drawn(
                career,
                width=width,
                height=height,
                shown=(bars[-1].n, bars[0].n) if bars and not career.since and not career.until else None,
                links=links,
            )
            for width in (career_svg.WIDE, career_svg.NARROW)
        ]
        return Markup("".join(drawn))  # noqa: S704  # escaped


@cache
def _template_files() -> Mapping[str, tuple[str, str, None]]:
    """Text and path of each template by its name, as they are now: a newer program may replace them while we run."""
    paths = sorted(path for path in _TEMPLATES.rglob("*") if path.is_file())
    return {path.relative_to(_TEMPLATES).as_posix(): (path.read_text("utf-8"), str(path), None) for path in paths}


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return the files that pages load, by name; they stay as they are while a process runs."""
    files = {}
    for path in sorted(_STATIC.iterdir()):
        body = path.read_bytes()
        if path.name == "style.css":
            body += _style_of_graphs().encode()
        mark = sha256(body).hexdigest()[:12]
        files[path.name] = StaticFile(body, encodings.packed(body), MEDIA[path.suffix], mark)
    return MappingProxyType(files)


def _style_of_graphs() -> str:
    """Return the look of rating graphs, in colours and, within what is marked as ``mono``, in black and white."""
    return looks.style_sheet(Look()) + looks.style_sheet(Look(mono=True)).replace(".rg ", ".mono .rg ")


# -- words ---------------------------------------------------------------------------------------------------------


def _harmless(value: object) -> object:
    """Return what a template writes: text without hidden or moving characters; our own markup unchanged."""
    return visible(value) if type(value) is str else value


def points(rating: float | None) -> str:
    """Return a rating to the nearest point; a dash where there is none."""
    return "–" if rating is None else wording.format_rating(rating)


def signed(change: float | None, places: int = 1) -> str:
    """Return a change with its sign, as people write it."""
    if change is None or isnan(change):
        return "–"
    text = f"{abs(change):,.{places}f}"
    sign = "" if not float(text.replace(",", "")) else "+" if change > 0 else "−"
    return f"{sign}{text}"


def number(value: float | None, places: int = 0) -> str:
    """Return a number, its thousands parted; a dash where there is none."""
    return "–" if value is None or isnan(value) else f"{value:,.{places}f}"


def rating(value: float | None, places: int) -> str:
    """Return a rating with so many places; a dash where there is none."""
    return "–" if value is None or isnan(value) else f"{value:.{places}f}"


def exact(value: float) -> str:
    """Return a number with all that matters of it."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:g}"


def score(value: float) -> str:
    """Game points with halves."""
    whole, half = int(value), "½" if value % 1 else ""
    return f"{whole or ''}{half}" if half else f"{whole}"


def words(text: str) -> str:
    """Return a word of ours as people write it: hyphens are blanks."""
    return text.replace("-", " ")


def instant(text: str | None) -> Markup | str:
    """Return an instant as precisely as it is known, in UTC; a script may add what time it was for the reader."""
    if text is None:
        return "–"
    day, _, clock = text.partition("T")
    if not clock:
        return text
    minutes = clock.removesuffix("Z")[:5]
    return Markup('<time datetime="{}">{} {} UTC</time>').format(text, day, minutes)


def lines(text: str) -> Markup:
    """Return a text of several lines, for a block that keeps them."""
    return Markup("\n".join(in_markup(line) for line in text.rstrip("\n").split("\n")))  # noqa: S704  # escaped


def typed_lines(text: str) -> Markup:
    """Return a text of several lines for a field in which it is edited: its line ends and tabs stay what they are."""
    return escape(visible(text, "\n\r\t"))


def tip(rows: Sequence[str]) -> Markup:
    """Return a tooltip, line by line, as an attribute; nothing if there are no lines."""
    # In an attribute a line feed must be written so for the mouse-over to have several lines.
    return Markup(f' title="{"&#10;".join(map(in_markup, rows))}"' if rows else "")  # noqa: S704  # escaped


def list_name(name: str) -> str:
    """Return the name of a published list without its edition, which an address names apart."""
    return name.partition("/")[0]


def month(text: str) -> str:
    """Return an instant of a list in words if it is a month or the last day of one; any other as it is."""
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?", text) is None:
        return text
    year, number, *day = map(int, text.split("-"))
    return f"{_MONTHS[number - 1]} {year}" if day in ([], [monthrange(year, number)[1]]) else text


def result(outcome: str) -> str:
    """Return the result of a game as scoresheets have it; empty if there is none."""
    return "" if outcome == Outcome.NONE else PGN_RESULTS[outcome]


def board_words(board: BoardShown) -> str:
    """Return a position in words, for readers who do not see it."""
    return f"{board_title(board)}. {mini_boards.describe_position(board.position)}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "points": points,
    "result": result,
    "signed": signed,
    "number": number,
    "exact": exact,
    "rating": rating,
    "score": score,
    "words": words,
    "instant": instant,
    "lines": lines,
    "month": month,
    "typed_lines": typed_lines,
    "list_name": list_name,
    "average": format_average,
    "in_browser": in_browser,
}
