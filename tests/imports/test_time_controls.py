"""Time controls in words and in code: the minutes for 60 moves, FIDE's class, and the pool that it chooses."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.crosstables.titles import title_name, title_speed
from ledger.imports.reading import OTHER_CLASS, TOO_FAST, FileHints, Reading
from ledger.imports.time_controls import TimeControl, fide_class, parse_code, parse_words
from ledger.ledger import Ledger
from ledger.recording.pool_choice import BY_TIME_CONTROL, PoolChoice
from tests.kit.commands import Run
from tests.kit.source_files import LICHESS_GAME, OUR_GAME, player, written
from tests.kit.workbooks import Rows, ods, xlsx


def minutes(control: TimeControl | None) -> float | None:
    seconds = None if control is None else control.seconds_for_a_game
    return None if seconds is None else seconds / 60


@pytest.mark.parametrize(
    ("words", "expected", "limits"),
    [
        # FIDE's own text, and the texts of chess-results
        ("90 min/40 moves + 30 min + 30 sec", 150, "standard"),
        ("90'/40 moves + 30' + 30''/move", 150, "standard"),
        ("90 min. for 40 moves + 30 min. for the rest + 30 sec. per move from move 1", 150, "standard"),
        ("90 Minuten / 40 Züge + 30 Minuten + 30 Sekunden pro Zug", 150, "standard"),
        ("100'x40 + 50'x20 + 15' + 30''", 180, "standard"),
        ("90 Min. / 40 Zuege + 30 Min. + 30 Sekunden ab Zug 1", 150, "standard"),
        (
            "90 minutes for the first 40 moves followed by 30 minutes for the rest of the game with an addition of 30 "
            "seconds per move starting from move one",
            150,
            "standard",
        ),
        ("90 min. za 40 tahů + 30 min. + 30 s/tah", 150, "standard"),
        ("90' para 40 jugadas + 30' + 30'' incremento", 150, "standard"),
        ("90 Minuten für 40 Züge, danach 30 Minuten, 30 Sekunden pro Zug", 150, "standard"),
        ("10 min + 5 sec increment per move", 15, "rapid"),
        ("25 min KO", 25, "rapid"),
        ("15+10/move", 25, "rapid"),
        ("40/120, 60", 180, "standard"),
        ("90+30", 120, "standard"),
        ("60 min", 60, "standard"),
        ("G/59", 59, "rapid"),
        ("30 min + 30 sec", 60, "standard"),
        ("15 min + 10 sec/move", 25, "rapid"),
        ("10'+5''", 15, "rapid"),
        ("10 min", 10, "blitz"),
        ("5 min + 5 sec", 10, "blitz"),
        ("3+2", 5, "blitz"),
        ("3 min", 3, TOO_FAST),
        ("1+0", 1, TOO_FAST),
        ("5400+30", 120, "standard"),
        ("40/5400+30:1800+30", 150, "standard"),
        ("Rapid", None, "rapid"),
        ("Standard", None, "standard"),
        ("bullet", None, TOO_FAST),
        ("correspondence", None, None),
    ],
)
def test_words_give_the_minutes_for_sixty_moves_and_fides_class(
    words: str, expected: float | None, limits: str | None
) -> None:
    control = parse_words(words)
    assert control is not None
    assert (minutes(control), control.fide_class) == (expected, limits)
    # digits alone are a code, in seconds
    assert fide_class(words) == limits or words in {"90+30", "3+2"}


@pytest.mark.parametrize(
    ("code", "expected", "limits"),
    [
        ("5400+30", 120, "standard"),
        ("40/5400+30:1800+30", 150, "standard"),
        # the increment begins with the second period
        ("40/5400:1800+30", 130, "standard"),
        # the third period begins after 60 moves
        ("40/7200:20/3600:900", 180, "standard"),
        # a period of moves repeats
        ("40/1200", 40, "rapid"),
        ("600", 10, "blitz"),
        ("601", 601 / 60, "rapid"),
        ("180+2", 5, "blitz"),
        ("180", 3, TOO_FAST),
        ("W300-B300", 5, "blitz"),
        ("W5400+30-B3600", 120, "standard"),
        ("900.0+10.0", 25, "rapid"),
        ("1/86400", None, None),
        ("-", None, None),
        ("?", None, None),
        ("", None, None),
    ],
)
def test_a_code_gives_the_minutes_for_sixty_moves_and_fides_class(
    code: str, expected: float | None, limits: str | None
) -> None:
    assert (minutes(parse_code(code)), fide_class(code)) == (expected, limits)


@pytest.mark.parametrize("text", ["60 moves", "W900-B300", "W300-B240", "5400+", "about an hour", "++", "600:x"])
def test_what_is_no_time_control_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not|names no time|no time control|FIDE rates no such game"):
        fide_class(text)


def test_a_code_of_another_program_that_may_be_in_minutes_is_not_guessed() -> None:
    assert fide_class("90+30") == "rapid"
    with pytest.raises(ValueError, match="may be minutes or seconds"):
        fide_class("90+30", is_certain=False)
    assert fide_class("180+2", is_certain=False) == "blitz"


def test_the_class_is_said_with_its_minutes() -> None:
    assert str(parse_code("900+10")) == "rapid (25 minutes for 60 moves)"
    assert str(parse_words("blitz")) == "blitz"


@given(seconds=st.integers(0, 10**5), increment=st.integers(0, 10**3))
def test_more_time_never_gives_a_faster_class(seconds: int, increment: int) -> None:
    order = [TOO_FAST, "blitz", "rapid", "standard"]
    now = fide_class(f"{seconds}+{increment}") or ""
    for more in (f"{seconds + 1}+{increment}", f"{seconds}+{increment + 1}"):
        assert order.index(fide_class(more) or "") >= order.index(now)


@given(text=st.text(max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    for parse in (parse_words, parse_code, fide_class):
        with suppress(ValueError):
            parse(text)


@pytest.mark.parametrize(
    ("below", "limit", "faster", "slower"),
    [
        # 60 minutes: standard; 10 minutes: blitz; 3 minutes: too fast
        ("3599+0", "3600+0", "rapid", "standard"),
        ("1799+30", "1800+30", "rapid", "standard"),
        ("1800+29", "1800+30", "rapid", "standard"),
        ("600+0", "601+0", "blitz", "rapid"),
        ("300+5", "301+5", "blitz", "rapid"),
        ("540+1", "541+1", "blitz", "rapid"),
        ("180+0", "181+0", TOO_FAST, "blitz"),
        ("120+1", "121+1", TOO_FAST, "blitz"),
        ("60+2", "61+2", TOO_FAST, "blitz"),
        # 40 moves, then the rest: the second period counts, and its increment for 20 moves
        ("40/1800:1799", "40/1800:1800", "rapid", "standard"),
        ("40/2400:600+29", "40/2400:600+30", "rapid", "standard"),
        ("40/300:300", "40/300:301", "blitz", "rapid"),
        # the same in words
        ("59 min", "60 min", "rapid", "standard"),
        ("29 min + 30 sec", "30 min + 30 sec", "rapid", "standard"),
        ("30 min + 29 sec", "30 min + 30 sec", "rapid", "standard"),
        ("20 min/40 moves + 9 min + 30 sec", "20 min/40 moves + 10 min + 30 sec", "rapid", "standard"),
        ("10 min", "11 min", "blitz", "rapid"),
        ("5 min + 5 sec", "5 min + 6 sec", "blitz", "rapid"),
        ("3 min", "4 min", TOO_FAST, "blitz"),
        ("2 min + 1 sec", "2 min + 2 sec", TOO_FAST, "blitz"),
    ],
)
def test_each_limit_has_its_neighbour(below: str, limit: str, faster: str, slower: str) -> None:
    assert (fide_class(below), fide_class(limit)) == (faster, slower)


# -- the pool --------------------------------------------------------------------------------------------------------


def trf(*headers: str) -> bytes:
    pairs = (player(1, "Ann", "2 w 1", fide="101"), player(2, "Bob", "1 b 0", fide="102"))
    lines = ("012 Night", "042 2024/05/03", "052 2024/05/03", *headers, *pairs)
    return "".join(f"{line}\n" for line in lines).encode()


def games_by_pool(path: Path) -> dict[str, int]:
    with Ledger.open(path) as ledger:
        return {pool.name: sum(1 for _ in ledger.rows("games", f"pool = {pool.pool}")) for pool in ledger.pools()}


@pytest.mark.parametrize(
    ("header", "pool"),
    [
        ("122 90 min/40 moves + 30 min + 30 sec", "standard"),
        ("122 15 min + 10 sec", "rapid"),
        ("222 180+2", "blitz"),
        ("122 Blitz", "blitz"),
    ],
)
def test_a_report_goes_to_the_pool_of_its_time_control(
    header: str, pool: str, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", fide_db, written(tmp_path, "night.trf", trf(header)), "--pools", "by-time-control")
    assert done.code == 0, done.err
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 0, "blitz": 0} | {pool: 1}


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("122 1+0", "faster than FIDE rates"),
        ("122 about an hour", "122 is not understood"),
        ("", "missing, or it is not understood; write it (222, 122)"),
    ],
)
def test_a_report_without_a_class_of_fide_is_an_error(
    header: str, why: str, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "night.trf", trf(*filter(None, [header])))
    done = run("import", fide_db, file, "--pools", BY_TIME_CONTROL)
    assert done.code == 1
    assert f"night.trf:{4 if header else 1}: error: time-control-missing: the time control is" in done.err
    assert why in done.err
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 0, "blitz": 0}


def test_a_report_that_contradicts_the_named_pool_is_refused_with_its_line(
    fide_db: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "night.trf", trf("122 3 min + 2 sec"))
    line = file.read_bytes().splitlines().index(b"122 3 min + 2 sec") + 1
    done = run("import", fide_db, file, "--pool", "rapid")
    assert done.code == 1
    words = "warning: time-control-differs: the time control is that of blitz by FIDE's limits"
    assert f"night.trf:{line}: {words}, and the games go to the pool rapid; take that pool" in done.err
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 0, "blitz": 0}
    assert run("import", fide_db, file, "--pool", "rapid", "--accept", OTHER_CLASS, "--actor", "eve").code == 0
    assert games_by_pool(fide_db)["rapid"] == 1
    with Ledger.open(fide_db) as ledger:
        (entry,) = ledger.journal.keys("accepted:", "accepted;")
        assert ledger.journal.find([entry])[entry].body.find(b"time-control-differs") > 0


def test_the_default_pool_takes_a_report_of_another_class_with_a_note(fide_db: Path, tmp_path: Path, run: Run) -> None:
    done = run("import", fide_db, written(tmp_path, "night.trf", trf("122 3 min + 2 sec")))
    assert done.code == 0
    assert "note: the time control is that of blitz by FIDE's limits" in done.err


def test_a_pool_of_a_scheme_without_fides_limits_takes_any_time_control(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "night.trf", trf("122 3 min + 2 sec"))
    done = run("import", empty_club, file, "--pool", "standard")
    assert (done.code, "limits" in done.err) == (0, False)


def test_the_latest_scheme_of_a_pool_says_whether_fides_limits_count(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    done = run("scheme", "adopt", empty_club, "--scheme", "fide", "--from", "2024-01-01", "--carry", "keep")
    assert done.code == 0, done.err
    done = run("import", empty_club, written(tmp_path, "night.trf", trf("122 3 min + 2 sec")), "--pool", "standard")
    assert (done.code, OTHER_CLASS in done.err) == (1, True)


def test_a_time_control_that_is_not_understood_is_a_note_in_a_named_pool(
    fide_db: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", fide_db, written(tmp_path, "night.trf", trf("122 about an hour")), "--pool", "rapid")
    assert done.code == 0
    assert "note: 122 is not understood; got 'about an hour': not used" in done.err
    assert games_by_pool(fide_db)["rapid"] == 1


PGN = """[Event "Night"]
[Site "Club"]
[Date "2021.03.0{day}"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[TimeControl "{control}"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0

"""


def files() -> Iterator[tuple[str, bytes]]:
    controls = ("5400+30", "900+10", "180+2")
    yield "a.pgn", "".join(PGN.format(day=day, control=each) for day, each in enumerate(controls, 1)).encode()
    rows = [f"{n},Ann,Bob,1-0,2024-05-0{n},{each}" for n, each in enumerate(controls, 1)]
    yield "b.csv", "\n".join(["key,white,black,result,ended_at,time_control", *rows]).encode()
    rows = [f"{n},Ann,Bob,1-0,2024-05-0{n},{each}" for n, each in enumerate(("90+30", "15+10", "3+2"), 1)]
    yield "c.csv", "\n".join(["key,white,black,result,ended_at,time_increment", *rows]).encode()
    words = ("90 min/40 moves; 30 min; 30 sec", "15 min + 10 sec", "3 min + 2 sec")
    rows = [f'{n},Ann,Bob,1-0,2024-05-0{n},"{each}"' for n, each in enumerate(words, 1)]
    yield "d.csv", "\n".join(["key,white,black,result,ended_at,time_control", *rows]).encode()
    rows = [f"{n},Ann,Bob,1-0,2024-05-0{n},{each}" for n, each in enumerate(("standard", "rapid", "blitz"), 1)]
    yield "e.csv", "\n".join(["key,white,black,result,ended_at,speed", *rows]).encode()
    clocks = ({"initial": 5400, "increment": 30}, {"initial": 900, "increment": 10}, {"initial": 180, "increment": 2})
    games = [LICHESS_GAME | {"id": f"aaaaBBB{n}", "clock": clock} for n, clock in enumerate(clocks)]
    yield "f.ndjson", b"\n".join(map(orjson.dumps, games))
    games = [OUR_GAME | {"key": f"club:{n}", "speed": each} for n, each in enumerate(("classical", "rapid", "blitz"))]
    yield "g.jsonl", b"\n".join(map(orjson.dumps, games))


@pytest.mark.parametrize(("name", "content"), list(files()), ids=[name for name, _ in files()])
def test_games_of_each_format_go_to_the_pools_of_their_time_controls(
    name: str, content: bytes, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", fide_db, written(tmp_path, name, content), "--pools", "by-time-control")
    assert done.code == 0, done.err
    assert games_by_pool(fide_db) == {"standard": 1, "rapid": 1, "blitz": 1}


@pytest.mark.parametrize(("name", "content"), list(files()), ids=[name for name, _ in files()])
def test_games_of_each_format_that_contradict_the_named_pool_are_refused(
    name: str, content: bytes, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", fide_db, written(tmp_path, name, content), "--pool", "rapid")
    assert done.code == 1
    assert done.err.count("by FIDE's limits, and the games go to the pool rapid; name that pool, or accept") == 2
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 1, "blitz": 0}
    done = run("import", fide_db, written(tmp_path, name, content), "--pool", "rapid", "--accept", OTHER_CLASS)
    assert done.code == 0
    assert done.err.count("note: the time control is that of") == 2
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 3, "blitz": 0}


def test_python_chooses_the_pool_by_time_control(fide_db: Path, tmp_path: Path) -> None:
    with Ledger.open(fide_db) as ledger:
        file = written(tmp_path, "night.trf", trf("122 15 min + 10 sec"))
        report = ledger.import_file(file, choice=PoolChoice(pool=BY_TIME_CONTROL))
        assert report.ok
        refused = ledger.import_file(file, choice=PoolChoice(pool="blitz"), said=FileHints(source="club"))
        assert not refused.ok
    assert games_by_pool(fide_db)["rapid"] == 1


def test_a_game_of_another_pool_by_the_tag_of_a_program_is_noted_and_left_out(
    fide_db: Path, tmp_path: Path, run: Run
) -> None:
    file = written(tmp_path, "a.pgn", PGN.format(day=1, control="90+30").encode())
    done = run("import", fide_db, file, "--pools", "by-time-control")
    assert "TimeControl may be minutes or seconds; got '90+30': not used" in done.err
    assert "1 left out: no time control that FIDE rates" in done.err


RATED = {"90 min + 30 sec": "standard", "15 min + 10 sec": "rapid", "3 min + 2 sec": "blitz"}
TITLES = ["Night"], ["Time control (Rapid) : {control}"], ["Date : 2024/05/03 To 2024/05/03"]
TABLE: list[list[Any]] = [
    ["Rk.", "Name", "Rtg", "1.Rd", "Pts."],
    [1, "Ek Ann", 2020, "2w1", 1],
    [2, "Lund Bob", 1971, "1b0", 0],
]
LIST: list[list[Any]] = [
    ["Round 1 on 2024/05/03 at 14:00"],
    ["Bo.", "No.", "White", "Rtg", "Result", "Black", "Rtg", "No."],
]
LIST += [[1, 1, "Ek Ann", 2020, "1 - 0", "Lund Bob", 1971, 2]]
VEGA = """Night
Time control : {control}
Town - 03/05/2024, 03/05/2024

 Cross Table at round 1

  N NAME                 Rtg   T  Fed  Pts |   1
--------------------------------------------------
  1 Ek, Ann              2201  FM SWE  1.0 | +W2
  2 Lund, Élise          2150     SWE  0.0 | -B1
"""


def text_of(rows: Rows, divider: str) -> bytes:
    return "".join(divider.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows).encode()


def one_tournament(form: str, control: str) -> tuple[str, bytes]:
    """Return a file with one game of a time control, which stands in line 2 or 4."""
    titles: list[list[Any]] = [[row[0].format(control=control)] for row in TITLES]
    match form:
        case "chess-results, cross-table":
            return "table.csv", text_of([*titles, *TABLE], ";")
        case "chess-results, sheet":
            return "table.xlsx", xlsx({"Table": [*titles, *TABLE]})
        case "LibreOffice":
            return "table.ods", ods({"Table": [*titles, *TABLE]})
        case "Vega":
            return "crosstable.txt", VEGA.format(control=control).encode()
        case "pairings":
            return "pairings.csv", text_of([*titles, *LIST], ";")
        case "TRF26 of teams":
            teams = (f"310   {n} {name:<32} {'':5} {'':6} {2 * p:>6} {p:>6} {'':3}  {n:4}"
                     for n, name, p in ((1, "A", 1.0), (2, "B", 0.0)))  # fmt: skip
            return "teams.trf", trf(f"122 {control}", *teams)
        case _:
            return "night.trf", trf(f"122 {control}")


FORMS = [
    "TRF16",
    "TRF26 of teams",
    "chess-results, cross-table",
    "chess-results, sheet",
    "LibreOffice",
    "Vega",
    "pairings",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("control", "pool"), RATED.items())
def test_a_tournament_of_each_program_goes_to_the_pool_of_its_time_control(
    form: str, control: str, pool: str, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    name, content = one_tournament(form, control)
    options = ["--dates", "dmy"] if form == "Vega" else []
    done = run("import", fide_db, written(tmp_path, name, content), "--pools", "by-time-control", *options)
    assert done.code == 0, done.err
    assert games_by_pool(fide_db) == {"standard": 0, "rapid": 0, "blitz": 0} | {pool: 1}


@pytest.mark.parametrize("form", FORMS)
def test_a_tournament_of_each_program_that_contradicts_the_named_pool_needs_an_acceptance(
    form: str, fide_db: Path, tmp_path: Path, run: Run
) -> None:
    name, content = one_tournament(form, "90 min + 30 sec")
    file = written(tmp_path, name, content)
    options = ["--pool", "rapid", "--dates", "dmy"] if form == "Vega" else ["--pool", "rapid"]
    done = run("import", fide_db, file, *options)
    assert done.code == 1
    (said,) = [line for line in done.err.splitlines() if "time-control-differs: the time control is that" in line]
    assert "is that of standard by FIDE's limits, and the games go to the pool rapid" in said
    assert games_by_pool(fide_db)["rapid"] == 0
    if not name.endswith(("xlsx", "ods")):
        line = next(n for n, text in enumerate(content.splitlines(), 1) if b"90 min" in text)
        assert f"{name}:{line}: " in said
    assert run("import", fide_db, file, *options, "--accept", OTHER_CLASS).code == 0
    assert games_by_pool(fide_db)["rapid"] == 1


def titled(control: str, label: str) -> tuple[str | None, list[str]]:
    reading = Reading("table.csv")
    reading.by_fide = True
    speed, _ = title_speed([(1, "Night"), (2, f"{label}{control}")], reading)
    return speed, [note.message for note in reading.notes]


@pytest.mark.parametrize(
    ("label", "control", "expected", "note"),
    [
        ("Time control (Rapid) : ", "15 min + 10 sec", "rapid", None),
        ("Bedenkzeit (Standard) : ", "90 Min. / 40 Züge + 30 Min. + 30 Sek. ab Zug 1", "standard", None),
        ("Cadence (Blitz) : ", "3 min + 2 s", "blitz", None),
        ("Tempo gry: ", "10 min + 5 s", "rapid", None),
        ("Time control (Standard) ", "90 min + 30 sec", "standard", None),
        # the program's class counts where the words are not understood, and never against them
        ("Time control (Blitz) : ", "as usual", "blitz", "is not understood; got 'as usual': not used"),
        ("Time control (Blitz)", "", "blitz", None),
        ("Time control (Rapid) : ", "90 min + 30 sec", "standard", "is called Rapid, and is that of standard"),
        ("Time control : ", "as usual", None, "is not understood"),
        ("Cadence ", "cup of friends", None, None),
    ],
)
def test_the_time_control_above_a_table_is_read_with_the_class_of_the_program(
    label: str, control: str, expected: str | None, note: str | None
) -> None:
    speed, notes = titled(control, label)
    assert speed == expected
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


def test_a_time_control_above_a_table_is_not_its_name() -> None:
    assert title_name([(1, "Time control (Rapid) 15 min + 10 sec"), (2, "Night")]) == "Night"
    assert title_name([(1, "Cadence Open"), (2, "Town")]) == "Cadence Open"


def test_a_sheet_of_games_has_its_time_controls_in_a_column(fide_db: Path, tmp_path: Path, run: Run) -> None:
    heading = ["key", "white", "black", "result", "ended_at", "time_control"]
    rows = [[str(n), "Ann", "Bob", "1-0", f"2024-05-0{n}", control] for n, control in enumerate(RATED, 1)]
    file = written(tmp_path, "games.xlsx", xlsx({"Games": [heading, *rows]}))
    assert run("import", fide_db, file, "--pools", "by-time-control").code == 0
    assert games_by_pool(fide_db) == {"standard": 1, "rapid": 1, "blitz": 1}


def test_a_file_of_games_whose_code_may_be_in_minutes_is_taken_if_no_pool_is_named(
    fide_db: Path, tmp_path: Path, run: Run
) -> None:
    rows = b"key,white,black,result,ended_at,time_control\n1,Ann,Bob,1-0,2024-05-01,90+30\n"
    file = written(tmp_path, "b.csv", rows)
    done = run("import", fide_db, file, "--pool", "standard")
    assert (done.code, "may be minutes or seconds" in done.err) == (1, True)
    assert run("import", fide_db, file).code == 0
    assert games_by_pool(fide_db)["standard"] == 1


def test_a_bye_of_another_class_goes_with_its_game(fide_db: Path, tmp_path: Path, run: Run) -> None:
    rows = ["key,white,black,result,ended_at,time_control,tournament,round", "1,Ann,Bob,1-0,2024-05-01,5400+30,Open,1"]
    rows += ["2,Cleo,bye,1-0,2024-05-01,5400+30,Open,1", "3,Dan,bye,1-0,2024-05-01,180+2,Open,1"]
    file = written(tmp_path, "b.csv", "\n".join(rows).encode())
    done = run("import", fide_db, file, "--pool", "standard")
    assert done.code == 1
    assert "b.csv:4: error: time-control-differs: the time control is that of blitz" in done.err
    with Ledger.open(fide_db) as ledger:
        assert len(list(ledger.rows("rounds_without_game"))) == 1
