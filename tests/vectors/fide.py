"""Published examples of the FIDE rating system and of its tournament reports."""

from datetime import date
from typing import Any

from ledger.imports.trf.lines import parse_player_line
from ledger.schemes.fide import DEFAULT
from ledger.schemes.formulas.fide_rules import (
    LATEST,
    compressed,
    dp,
    initial_2024,
    initial_before_2024,
    k_capped,
    k_factor,
    pd,
)
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import Result, game, game_rounded, period, round_change, time_control_class, tournament

EPOCH = date(1970, 1, 1)


def _day(given: Inputs) -> float:
    """The day of the rules, days since 1970: of an event that gives none, those in force."""
    text = given.get("on") or given.get("start")
    return float((date.fromisoformat(text) - EPOCH).days) if text else LATEST


def _rapid(given: Inputs) -> bool:
    return (given.get("chapter") or "standard") != "standard"


def _game(given: Inputs) -> float:
    change = game(given["own"], given["opp"], given["score"], given["K"], _day(given), rapid=_rapid(given))
    return float(change)


def _game_rounded(given: Inputs) -> int:
    return game_rounded(given["own"], given["opp"], given["score"], given["K"], _day(given), rapid=_rapid(given))


def _event(given: Inputs, k: Any) -> Result:
    return tournament(given["Ro"], given["games"], k, _day(given), rapid=_rapid(given))


def _tournament(given: Inputs) -> dict[str, float]:
    result = _event(given, given["k"])
    return {"sum": float(result.difference), "K_chg": float(result.change)}


def _period(given: Inputs) -> dict[str, Any]:
    common = {name: given[name] for name in ("on", "chapter") if name in given}
    result = period([_event(common | event, event.get("k") or given["k"]) for event in given["tournaments"]])
    found = {"total": f"{result.total:.2f}", "rounded_once": result.rounded_once, "rounded_each": result.rounded_each}
    if "present" in given:  # the rating of the last list, to which the change is added; each event has its own Ro
        found["rating"] = given["present"] + result.rounded_once
    return found


def _k(given: Inputs) -> float:
    highest = max(
        given["rating"],
        DEFAULT.high_from if given.get("ever_2400") else 0.0,
        DEFAULT.junior_below if given.get("ever_2300") else 0.0,
    )
    return k_factor(highest, given["games"], bool(given.get("junior")), _day(given), _rapid(given), DEFAULT)


def _k_capped(given: Inputs) -> float:
    return k_capped(given["k"], given["n"], _day(given), DEFAULT.k_product)


def _initial_2024_avg(given: Inputs) -> float:
    n = given["n"]
    return initial_2024(given["rc"] * n, given["w"], n, DEFAULT.hypothetical, DEFAULT.initial_highest)


def _initial_2022(given: Inputs) -> float:
    return initial_before_2024(given["rc"] * given["n"], given["w"], given["n"], 20.0)


def _initial_2024(given: Inputs) -> float:
    games = [(rating, score) for rating, score in given["games"] if rating]
    total, score = (sum(column) for column in zip(*games, strict=True))
    return initial_2024(total, score, len(games), DEFAULT.hypothetical, DEFAULT.initial_highest)


def _time_control_class(given: Inputs) -> str:
    return time_control_class(given["base_s"], given["inc_s"], given.get("rating") or 0.0)


def _trf_player(given: Inputs) -> dict[str, Any]:
    player = parse_player_line(given["line"])
    return {
        "rank": player.rank, "sex": player.sex, "title": player.title, "name": player.name, "rating": player.rating,
        "fed": player.federation, "id": player.fide_id, "birth": player.birth, "points": player.points,
        "place": player.place, "rounds": [[each.opponent, each.colour, each.result] for each in player.rounds],
    }  # fmt: skip


FUNCTIONS: Functions = {
    ("fide", "pd"): lambda given: pd(given["d"]),
    ("fide", "dp"): lambda given: dp(given["pct"]),
    ("fide", "game"): _game,
    ("fide", "game_rounded"): _game_rounded,
    ("fide", "tournament"): _tournament,
    ("fide", "period"): _period,
    ("fide", "round_change"): lambda given: round_change(str(given["x"])),
    ("fide", "k"): _k,
    ("fide", "k_capped"): _k_capped,
    ("fide", "initial_2024_avg"): _initial_2024_avg,
    ("fide", "initial_2022"): _initial_2022,
    ("fide", "initial_2024"): _initial_2024,
    ("fide", "compress_2024"): lambda given: compressed(given["r"]),
    ("format", "fide_tc_class"): _time_control_class,
    ("format", "trf_player"): _trf_player,
}
