"""The texts of a rating graph: its heading, its summary, the details of a bar. Plain text, not escaped."""

from __future__ import annotations

from math import isnan

from ledger.answers.graphs.graph_data import Bar, Page, PlayerBars

RESULT_KINDS = ("win", "draw", "loss", "time-loss")
RESULT_WORDS = {"win": "Win", "draw": "Draw", "loss": "Loss", "time-loss": "Loss on time"}
_DONE = {"win": "won against", "draw": "drew with", "loss": "lost to"}
_MOST_DIGITS = 1e7  # points: what is larger is shown with an exponent


def result_kind(bar: Bar) -> str:
    """Return the result of a bar's game as one of ``RESULT_KINDS``, in which a loss on time is a kind of its own."""
    return "time-loss" if bar.time_loss else bar.result


def bar_id(player: PlayerBars, bar: Bar) -> str:
    """Return the identifier of a bar within a document: ``g13-106``."""
    return f"g{player.player}-{bar.n}"


def format_rating(rating: float | None) -> str:
    """Return a rating to the nearest point as text; a dash for none."""
    # A graph of 100 games has 500 of them; a value that is no number is in no range.
    if rating is not None and -_MOST_DIGITS < rating < _MOST_DIGITS:
        return f"{rating:.0f}"
    return "-" if rating is None or isnan(rating) else f"{rating:.3g}"


def count_noun(number: int, thing: str) -> str:
    """Return a number with its noun: ``1 game``, ``2 games``."""
    plural = f"{thing[:-2]}sses" if thing.endswith("ss") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else plural}"


def games_shown(page: Page) -> str:
    """Describe the games on a page: ``games 57 to 106 of 106``, ``game 1 of 1``."""
    bars = page.player.bars
    if not bars:
        return "no rated game yet"
    if len(bars) == 1:
        return f"game {bars[0].n:,} of {page.player.games:,}"
    return f"games {bars[-1].n:,} to {bars[0].n:,} of {page.player.games:,}"


def days_shown(page: Page) -> str:
    """Describe the days of the games on a page: the first and the last day, or the only one; empty without games."""
    bars = page.player.bars
    days = sorted(bar.ended_at[:10] for bar in bars)
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def is_now_of_another_scheme(page: Page) -> bool:
    """Return whether the rating now is by another scheme than the one that rated the last game on the page."""
    player = page.player
    is_shown = page.is_newest and player.rating_now is not None and bool(player.bars)
    return is_shown and player.bars[0].scheme != player.scheme_now


def heading(page: Page) -> str:
    """Return the heading of a graph: the name of the player or of both players."""
    second = "" if page.against is None else f" and {page.against.name}"
    return f"{page.player.name}{second}"


def summary(page: Page) -> str:
    """Describe the content of a page in sentences, for readers who cannot see it."""
    player = page.player
    now, lowest, highest = map(format_rating, (player.rating_now, player.lowest, player.highest))
    if not player.bars:
        return f"{player.name} has no rated game in pool {page.pool} yet; the rating is {now}."
    order = "side by side" if page.by == "game" else "on their days"
    sentences = [
        f"Ratings of {player.name} in pool {page.pool} after {games_shown(page)}, {days_shown(page)}, a bar a game, "
        f"{order}, the newest at the left.",
        f"Rating now {now}; here from {lowest} to {highest}.",
        f"{count_noun(player.wins, 'win')}, {count_noun(player.draws, 'draw')}, {count_noun(player.losses, 'loss')}"
        + (f", {player.time_losses:,} of them on time." if player.time_losses else "."),
    ]
    sentences += [f"From {seam.ended_at} on rated by {seam.scheme}, before by {seam.before}." for seam in player.seams]
    if is_now_of_another_scheme(page):
        sentences.append(f"The rating now is by {player.scheme_now}, that of the last game by {player.bars[0].scheme}.")
    if page.against is not None:
        games = count_noun(len(page.against.bars), "game")
        without = f", without the {page.against.left_out:,} before them" if page.against.left_out else ""
        sentences.append(f"The line shows {games} of {page.against.name} in that time{without}.")
    return " ".join([*sentences, f"As of entry {page.position:,} of the journal."])


def bar_label(bar: Bar) -> str:
    """Describe a bar in a few words, which a screen reader says first."""
    on_time = " on time" if bar.time_loss else ""
    return f"{bar_title(bar)}, {bar.result}{on_time} against {bar.opponent}, rating {format_rating(bar.rating)}"


def bar_details(bar: Bar, player: PlayerBars) -> list[str]:
    """Describe a bar in lines: its title and all facts, as the page shows them under the pointer."""
    return [bar_title(bar), *[f"{term}: {words}" for term, words in bar_facts(bar, player)]]


def bar_title(bar: Bar) -> str:
    """Return the title of a bar: the number and the day of its game."""
    return f"Game {bar.n}, {bar.ended_at[:10]}"


def bar_facts(bar: Bar, player: PlayerBars) -> list[tuple[str, str]]:
    """Return the facts of a bar as terms with their texts: result, ratings, tournament, marks."""
    provisional = " (provisional)" if bar.provisional else ""
    lines = [
        ("Result", f"{player.name} ({bar.colour}) {_DONE[bar.result]} {bar.opponent}, {ending_words(bar)}"),
        ("Player's rating", f"{format_rating(bar.rating)}{provisional}, now {format_rating(player.rating_now)}"),
        (
            "Opponent's rating",
            f"{format_rating(bar.opponent_rating_before)}, now {format_rating(bar.opponent_rating_now)}",
        ),
    ]
    if bar.in_force is None:
        lines.append(("Counts", "when its period closes"))
    elif bar.in_force != bar.ended_at[:10] and len(bar.ended_at) > len("2024-05"):
        lines.append(("Counts", f"from {bar.in_force} on"))
    if bar.tournament:
        lines.append(("Tournament", bar.tournament))
    return lines + bar_marks(bar)


def bar_marks(bar: Bar) -> list[tuple[str, str]]:
    """Return the marks of a bar as terms with their texts: proposals that corrected the game, a differing list."""
    lines = []
    if bar.corrected:
        lines.append(("Corrected by proposal", ", ".join(map(str, bar.corrected))))
    if bar.published_list is not None:
        said, would = format_rating(bar.published_rating), format_rating(bar.revised_rating)
        lines.append((f"List {bar.published_list}", f"said {said}, now it would say {would}"))
    return lines


def ending_words(bar: Bar) -> str:
    """Describe how the game of a bar ended."""
    return "ending unknown" if bar.termination == "unknown" else bar.termination.replace("-", " ")
