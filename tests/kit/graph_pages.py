"""Pages of rating graphs: plain ones of which a test says what matters, drawn ones, and a pinned one."""

from collections.abc import Mapping
from math import inf, nan
from typing import Any

from hypothesis import strategies as st

from ledger.answers.graphs import html, json_form, svg, vega_lite
from ledger.answers.graphs.graph_data import Bar, Page, PlayerBars, Seam
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.graphs.page_reader import count_pages
from tests.kit.places import TESTS
from tools import output

FOLDER = TESTS / "golden" / "graphs"
THIEF = "</title><script>alert('\x1b[2J\u202e')</script>\" onload=\"x&lt;"
DAY_MS = 86_400_000


def bar(n: int, rating: float | None = 1500.0, **facts: Any) -> Bar:
    """A player's n-th game, won on the n-th day of 2020; *facts* are set instead."""
    ended_ms = facts.pop("ended_ms", 1_577_836_800_000 + (n - 1) * DAY_MS)
    day = facts.pop("ended_at", f"2020-{1 + (n - 1) // 28 % 12:02}-{1 + (n - 1) % 28:02}")
    return Bar(**{
        "n": n, "game": f"club:{n}", "address": None, "ended_at": day, "ended_ms": ended_ms, "colour": "white",
        "result": "win", "time_loss": False, "termination": "resignation", "tournament": None, "scheme": "elo",
        "rating": rating, "in_force": day[:10], "provisional": False, "opponent": "Bob", "opponent_player": 2,
        "opponent_rating_before": facts.get("opponent_rating", 1400.0), "opponent_rating": 1400.0,
        "opponent_rating_now": 1410.0, "corrected": [], "published_list": None, "published_rating": None,
        "revised_rating": None, "final_position": None, **facts,
    })  # fmt: skip


def player_bars(bars: list[Bar], **facts: Any) -> PlayerBars:
    """The part of Ann, who has played these games, the newest first."""
    ratings = [found.rating for found in bars if found.rating is not None]
    results = [found.result for found in bars]
    return PlayerBars(**{
        "player": 1, "name": "Ann", "rating_now": ratings[0] if ratings else None, "provisional_now": False,
        "scheme_now": "elo", "games": bars[0].n if bars else 0, "left_out": 0, "wins": results.count("win"),
        "draws": results.count("draw"), "losses": results.count("loss"),
        "time_losses": sum(found.time_loss for found in bars), "lowest": min(ratings, default=None),
        "highest": max(ratings, default=None), "bars": bars, "seams": [], **facts,
    })  # fmt: skip


def page_with(player: PlayerBars, **facts: Any) -> Page:
    """The last games of a player; *facts* are set instead."""
    return Page(**{
        "pool": "standard", "position": 9, "by": "game", "page": None, "pages": count_pages(player.games),
        "newer": None, "older": None, "is_newest": True, "player": player, "against": None, **facts,
    })  # fmt: skip


NUMBERS = st.one_of(
    st.none(), st.floats(800, 2800), st.sampled_from((0.0, -350.5, 1e12, -1e12, 1e308, -1e308, inf, -inf, nan, 1500.0))
)
TEXTS = st.one_of(
    st.just(THIEF), st.text(max_size=12), st.sampled_from(("]]>", "--><b>", "羽生　善治", "{{x}}", "=1+1"))
)


@st.composite
def pages_drawn(draw: st.DrawFn, most: int = 12) -> Page:
    """A page of 0 to *most* games with anything in them."""
    count, name = draw(st.integers(0, most)), draw(TEXTS)
    moments = sorted(draw(st.lists(st.integers(-2_000_000_000_000, 4_000_000_000_000), min_size=count, max_size=count)))
    bars = [
        bar(
            n, draw(NUMBERS), ended_ms=ms, result=draw(st.sampled_from(("win", "draw", "loss"))), opponent=draw(TEXTS),
            time_loss=draw(st.booleans()), tournament=draw(st.none() | TEXTS), opponent_rating=draw(NUMBERS),
            opponent_rating_now=draw(NUMBERS), provisional=draw(st.booleans()), game=draw(TEXTS),
            corrected=draw(st.sampled_from(([], [3]))), published_list=draw(st.none() | TEXTS),
            in_force=draw(st.sampled_from((None, "2020-01-31"))),
            address=draw(st.sampled_from((None, "https://lichess.org/abcdefgh"))),
        )
        for n, ms in enumerate(moments, 1)
    ][::-1]  # fmt: skip
    beside = draw(st.sampled_from((None, player_bars(bars[: count // 2], player=2, name=name))))
    seams = [
        Seam(n=found.n, ended_at=found.ended_at, ended_ms=found.ended_ms, before=name, scheme="x") for found in bars[:1]
    ]
    player = player_bars(
        bars, name=name, rating_now=draw(NUMBERS), seams=seams if draw(st.booleans()) and count > 1 else []
    )
    by = "date" if beside is not None else draw(st.sampled_from(("game", "date")))
    return page_with(player, by=by, against=beside, pool=draw(TEXTS), is_newest=draw(st.booleans()))


def pinned_page() -> Page:
    """A page with every kind of bar and every mark."""
    bars = [
        bar(
            57, 1523.4, address="https://lichess.org/abcdefgh", game="lichess:abcdefgh",
            final_position="6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1",
        ),
        bar(56, 1510.0, result="loss", termination="checkmate", corrected=[3, 8], colour="black"),
        bar(55, 1521.75, result="loss", time_loss=True, termination="time", tournament="Cup <2020>"),
        bar(54, 1530.5, result="draw", termination="stalemate", opponent=THIEF, opponent_rating=1720.0),
        bar(53, 1515.0, scheme="chessworld", published_list="standard@2020-02-29/1", published_rating=1511.0,
            revised_rating=1515.0),
        bar(52, 1502.25, scheme="chessworld", provisional=True, opponent_rating=None, opponent_rating_now=None),
        bar(51, None, scheme="chessworld", in_force=None),
    ]  # fmt: skip
    seam = Seam(n=54, ended_at=bars[3].ended_at, ended_ms=bars[3].ended_ms, before="chessworld", scheme="elo")
    player = player_bars(bars, name="Ann & Co", seams=[seam], games=57)
    return page_with(player, page=1, pages=2, older=2)


def pinned_pair() -> Page:
    """Two players by date."""
    page = pinned_page()
    rival = player_bars([bar(9, 1480.0, ended_ms=page.player.bars[1].ended_ms), bar(8, 1550.0)], player=2, name="Bob")
    return page_with(page.player, by="date", against=rival)


def documents() -> Mapping[str, bytes]:
    """The pinned documents by the name of their files."""
    page, pair = pinned_page(), pinned_pair()
    return {
        "page.json": json_form.graph_json(page),
        "page.csv": output.divided(json_form.bar_rows(page), "csv", raw=False).encode(),
        "page.svg": svg.draw(page, Look(opponents=True)).encode(),
        "mono-dark.svg": svg.draw(page, Look(mono=True, theme=Theme.DARK)).encode(),
        "pair.svg": svg.draw(pair, Look(theme=Theme.LIGHT)).encode(),
        "page.html": html.draw(page, page_link=lambda number: f"ann-{number}.html").encode(),
        "page.vl.json": json_form.dump_json(vega_lite.specification(page, opponents=True), indent=True),
        "pair.vl.json": json_form.dump_json(vega_lite.specification(pair), indent=True),
        "history.lichess.json": json_form.dump_json(json_form.lichess_history([page])),
    }
