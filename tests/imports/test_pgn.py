"""PGN of every dialect and every kind of damage, read into source games."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.instants import instant_ms
from ledger.facts.source_games import SourceGame
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from tests.kit.places import DATA, TESTS

FIXTURES = TESTS / "fixtures" / "pgn"
TAGS = '[Event "E"]\n[Date "2001.02.03"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n'


def read(data: bytes | str) -> tuple[list[SourceGame], Reading]:
    raw = data.encode() if isinstance(data, str) else data
    reading = Reading("test", bytes_read=len(raw))
    return list(pgn.read_games(io.BytesIO(raw), reading)), reading


def fixture(name: str) -> tuple[list[SourceGame], Reading]:
    return read((FIXTURES / name).read_bytes())


def one(movetext: str, tags: str = TAGS) -> SourceGame:
    games, reading = read(f"{tags}\n{movetext}\n")
    assert reading.faults == []
    return games[0]


def test_a_lichess_game_gives_every_field() -> None:
    games, reading = fixture("lichess.pgn")
    assert reading.faults == []
    assert games[0] == SourceGame(
        line=1,
        key="lichess:aaaaBBBB",
        white_id="lichess:ann",
        white_name="Ann",
        black_id="lichess:bob_2",
        black_name="Bob_2",
        outcome="white",
        termination="checkmate",
        half_moves=7,
        started_at="2021-10-01T10:00:00Z",
        # White 180 + 3*2 - 170, Black 180 + 2*2 - 160: on Lichess the first move of a side is free.
        ended_at="2021-10-01T10:00:40Z",
        tournament=None,
        round=None,
        rated=True,
        white_rating=1663,
        black_rating=1787,
        speed="blitz",
        variant="standard",
        text="e4 {[%clk 0:03:00]} e5 {[%clk 0:03:00]} Qh5 {[%clk 0:02:58]} Nc6 {[%clk 0:03:01]} "
        "Bc4 {[%clk 0:02:57]} Nf6 {[%clk 0:02:40]} Qxf7# {[%clk 0:02:50]}",
    )


def test_lichess_arenas_machines_variants_and_unplayed_games() -> None:
    games, reading = fixture("lichess.pgn")
    _, arena, machine, unplayed = games
    assert (arena.tournament, arena.rated, arena.white_rating) == ("lichess:abcd1234", True, None)
    assert arena.termination == "time"
    # White has flagged: 60. Black berserked: 30 - 25.
    assert arena.ended_at == "2021-10-01T11:01:05Z"
    assert (machine.white_id, machine.white_name) == ("lichess:ai-level-3", "lichess AI level 3")
    assert (machine.rated, machine.variant, machine.termination) == (False, "kingOfTheHill", "unknown")
    assert machine.ended_at == machine.started_at
    assert (unplayed.half_moves, unplayed.outcome, unplayed.termination) == (0, "white", "abandonment")
    assert (unplayed.speed, unplayed.text) == ("correspondence", None)
    assert reading.skipped == {"unfinished": 1}


LICHESS = '[Site "https://lichess.org/aaaaBBBB"]\n[Date "2020.01.02"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n'


@pytest.mark.parametrize(
    ("event", "more", "rated"),
    [
        ("Rated Blitz game", "", True),
        ("Casual Blitz game", "", False),
        ("rated blitz game", "", True),
        ("Rated King of the Hill game", "", True),
        ("Casual King of the Hill game", "", False),
        ("Rated Bullet tournament https://lichess.org/tournament/abcd1234", "", True),
        ("Casual Blitz tournament https://lichess.org/tournament/abcd1234", "", False),
        ("Casual Blitz swiss https://lichess.org/swiss/abcd1234", '[WhiteRatingDiff "+1"]', False),
        ("Hourly Bullet Arena", '[WhiteRatingDiff "+6"]\n[BlackRatingDiff "-6"]', True),
        ("Hourly Bullet Arena", '[BlackRatingDiff "+0"]', True),
        ("Casual Friday Arena", '[WhiteRatingDiff "-4"]', True),
        ("Unrated no more Arena", '[WhiteRatingDiff "-4"]', True),
        ("", "", True),
    ],
)
def test_whether_a_game_of_lichess_is_rated_is_said_by_event_or_by_what_the_ratings_gained(
    event: str, more: str, rated: bool
) -> None:
    (game,), reading = read(f'[Event "{event}"]\n{LICHESS}{more}\n\n1. e4 e5 1-0\n')
    assert (game.rated, reading.faults, reading.notes) == (rated, [], [])


@pytest.mark.parametrize(
    "event", ["Farag\u00f3 Arena", "Rated Friday Arena", "Blitz simul https://lichess.org/simul/abcd1234"]
)
def test_an_arena_game_of_which_nothing_says_that_it_was_rated_is_casual_and_a_note_says_so(event: str) -> None:
    (game,), reading = read(f'[Event "{event}"]\n{LICHESS}\n1. e4 e5 1-0\n')
    assert (game.rated, reading.faults) == (False, [])
    (note,) = reading.notes
    assert note.line == 1
    assert "there is no WhiteRatingDiff: it is taken as casual" in note.message


def test_a_variant_of_several_words_is_no_tournament() -> None:
    (game,), _ = read(f'[Event "Rated King of the Hill game"]\n{LICHESS}\n1. e4 e5 1-0\n')
    assert game.tournament is None


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "lichess_small.pgn").exists(), reason="the games of Lichess are absent")
def test_the_rated_games_of_a_pgn_of_lichess_are_those_of_its_csv() -> None:
    games, _ = read((DATA / "lichess_small.pgn").read_bytes())
    rows = csv.DictReader(io.StringIO((DATA / "lichess_small.csv").read_text(encoding="utf-8")))
    told = {f"lichess:{row['game_id']}": row["rated"] == "1" for row in rows}
    assert {game.key: game.rated for game in games} == told


def test_a_fics_game_is_known_by_its_number_and_ends_as_the_closing_comment_says() -> None:
    games, reading = fixture("fics.pgn")
    assert reading.faults == []
    assert [g.key for g in games] == ["fics:123456", "fics:123457", "fics:123458"]
    assert [g.termination for g in games] == ["resignation", "time", "time"]
    assert [g.rated for g in games] == [True, False, True]
    assert [g.started_at for g in games] == ["2013-01-02T03:04:05Z", "2013-01-02T03:10:05Z", "2013-01-02"]
    assert (games[0].white_id, games[0].white_name, games[0].text) == ("fics:ann", "Ann", "e4 e5 Nf3 Nc6")


def test_chess_com_ends_are_taken_from_end_tags_and_daily_games_have_their_own_numbers() -> None:
    games, reading = fixture("chesscom.pgn")
    assert reading.faults == []
    assert [g.key for g in games] == ["chesscom:116900000001", "chesscom:daily/600000001"]
    assert [g.termination for g in games] == ["resignation", "time"]
    assert games[0].ended_at == "2024-08-09T13:08:56Z"
    assert games[0].white_id == "chesscom:annx"
    assert games[0].text is not None
    assert "d5 {[%clk 0:10:02.2]}" in games[0].text
    assert games[1].speed == "correspondence"


def test_utf8_with_byte_order_mark_and_crlf_and_fide_ids() -> None:
    (game,), reading = fixture("twic_bom_crlf.pgn")
    assert reading.faults == []
    assert (game.white_id, game.white_name) == ("fide:1503014", "Nord,Åke")
    assert (game.started_at, game.ended_at, game.round) == ("2020-03-17", "2020-03-17", "1.2")
    assert (game.half_moves, game.outcome, game.termination) == (6, "draw", "unknown")
    assert game.tournament == "Candidates 2020"
    assert game.key.startswith("pgn:")
    assert len(game.key) == 28


def test_files_with_byte_order_marks_that_were_joined_are_read_as_each_by_itself() -> None:
    files = [f"{TAGS}\n1. e4 e5 1-0\n\n".replace('"E"', f'"{event}"').encode("utf-8-sig") for event in ("Open", "Cup")]
    games, reading = read(b"".join(files))
    assert (reading.faults, [game.tournament for game in games]) == ([], ["Open", "Cup"])
    assert [game.key for game in games] == [game.key for file in files for game in read(file)[0]]


def test_windows_1252_where_it_is_not_utf8() -> None:
    (game,), _ = fixture("chessbase_latin1.pgn")
    assert (game.white_name, game.black_name) == ("Müller, Jörg", "NovŽk, I.")
    assert game.white_id == "name:müller, jörg"
    assert (game.started_at, game.round, game.speed) == ("1911", None, None)
    assert game.text == "e4 e5 f4 exf4 Nf3 d6 d4 g5 O-O"


def test_comments_escapes_variations_and_old_spellings_are_read_through() -> None:
    games, reading = fixture("comments.pgn")
    assert reading.faults == []
    assert [g.line for g in games] == [2, 16, 23, 29]
    assert [g.half_moves for g in games] == [8, 7, None, 4]
    assert games[0].text == "e4 e5 Nf3 Nc6 Bb5 a6 -- b5"
    assert games[1].text == "O-O e4 e5 exd6 Qxd6+ e8=Q Nb8"
    assert [g.termination for g in games] == ["unknown", "unknown", "unknown", "checkmate"]


def test_broken_tags_are_mended_where_they_have_one_meaning() -> None:
    games, reading = fixture("broken_tags.pgn")
    assert reading.faults == []
    assert games[0].tournament == 'The "Big" Open'
    assert (games[0].white_name, games[0].black_name) == ('O"Neil, \\ Pat', "Smith, J")
    assert (games[0].started_at, games[0].round, games[0].outcome) == ("1999-01-02", "7", "white")
    assert (games[1].white_name, games[1].outcome) == ("One", "black")


def test_every_fault_names_its_line_and_the_other_games_are_taken() -> None:
    games, reading = fixture("faults.pgn")
    assert [g.white_name for g in games] == ["Good"]
    told = [(fault.line, fault.message) for fault in reading.faults]
    expected = [
        (3, "White is missing or '?'"), (1, "Black is missing"), (9, "'2001.13.01'"),
        (17, "names no year"),
        (28, "Result 'won' is none of"), (39, "'rubbish' is no move"), (47, "never closed"),
        (63, "'(' is never closed"), (69, "but 0-1 after the moves"), (81, "'d4' follows the result"),
        (88, "'9999' is outside 0 to 5000"), (98, "the file ends inside this game"),
    ]  # fmt: skip
    assert [line for line, _ in told] == [line for line, _ in expected]
    for (_, message), (_, part) in zip(told, expected, strict=True):
        assert part in message


@pytest.mark.parametrize("data", ["", "\n\n", "a,b,c\n1,2,3\n", "1. e4 e5 1-0\n", "\x00\xff"])
def test_a_file_without_tags_is_one_fault(data: str) -> None:
    games, reading = read(data)
    assert games == []
    assert len(reading.faults) == 1
    assert reading.faults[0].message.startswith("no PGN tag in the whole file: " if data else "the file is empty: ")


def test_moves_above_the_first_tags_are_a_fault() -> None:
    games, reading = read(f"1. e4 e5 1-0\n\n{TAGS}\n1. d4 1-0\n")
    assert len(games) == 1
    assert [(f.line, "moves without tags" in f.message) for f in reading.faults] == [(1, True)]


def test_the_same_game_has_the_same_key_whatever_its_result_and_comments() -> None:
    first = one("1. e4 e5 2. Nf3+ 1-0")
    other_result = one("1.e4 {good} e5 (1... c5) 2.Nf3 $1 0-1", TAGS.replace("1-0", "0-1"))
    assert first.key == other_result.key
    assert first.key != one("1. e4 e5 1-0").key
    assert first.key != one("1. e4 e5 2. Nf3 1-0", TAGS.replace('"A"', '"C"')).key


def test_a_key_never_changes() -> None:
    assert one("1. e4 e5 1-0").key == "pgn:01ec2ce9b6b1c7d7ce85796d"


@pytest.mark.parametrize(
    ("last", "result", "expected"),
    [
        ("2. Qh5#", "1-0", "checkmate"),
        ("2. Qh5#", "0-1", "unknown"),  # the side that was mated cannot have won
        ("2. Qh5", "1-0", "unknown"),
        ("2. Qh5++", "1-0", "checkmate"),
        ("2. Qh5++ Ke7", "1-0", "unknown"),
        ("2. Qh5 {White wins on time}", "1-0", "time"),
        ("2. Qh5 {Game drawn by stalemate}", "1/2-1/2", "stalemate"),
        ("2. Qh5 {Game drawn by repetition}", "1/2-1/2", "repetition"),
        ("2. Qh5 {Game drawn by the 50 move rule}", "1/2-1/2", "fifty-move"),
        ("2. Qh5 {Game drawn by mutual agreement}", "1/2-1/2", "agreement"),
        ("2. Qh5 {Neither player has mating material}", "1/2-1/2", "insufficient-material"),
        ("2. Qh5 {Bob forfeits by disconnection}", "1-0", "abandonment"),
        ("2. Qh5 {Ann wins by adjudication}", "1-0", "adjudication"),
        ("2. Qh5 {Game 45 (Ann vs. Bob) Bob checkmated}", "1-0", "checkmate"),
        ("2. Qh5 {White overlooked stalemate by resignation}", "1/2-1/2", "unknown"),
    ],
)
def test_without_a_tag_the_moves_and_the_server_tell_the_end(last: str, result: str, expected: str) -> None:
    assert one(f"1. e4 e5 {last} {result}", TAGS.replace("1-0", result)).termination == expected


@pytest.mark.parametrize(
    ("tag", "result", "expected"),
    [
        ("Normal", "1-0", "resignation"),
        ("Normal", "1/2-1/2", "unknown"),
        ("Time forfeit", "1/2-1/2", "time"),
        ("Abandoned", "1-0", "abandonment"),
        ("Rules infraction", "1-0", "rules-infraction"),
        ("Insufficient material", "1/2-1/2", "insufficient-material"),
        ("adjudication", "1-0", "adjudication"),
        ("death", "1-0", "unknown"),
        ("emergency", "1-0", "unknown"),
    ],
)
def test_termination_words_of_lichess_and_the_standard(tag: str, result: str, expected: str) -> None:
    tags = TAGS.replace("1-0", result) + f'[Site "https://lichess.org/abcdefgh"]\n[Termination "{tag}"]\n'
    assert one(f"1. e4 e5 {result}", tags).termination == expected


@pytest.mark.parametrize(
    ("tags", "half_moves"),
    [
        ('[PlyCount "57"]', 57), ('[PlyCount "0"]', None), ('[PlyCount "?"]', None), ('[PlyCount "many"]', None),
        ('[PlyCount "999999"]', None), ('[PlyCount "0"]\n[Rated "no"]', 0), ('[PlyCount "?"]\n[Rated "no"]', None),
        ('[PlyCount "57"]\n[Termination "unplayed"]', None),
    ],
)  # fmt: skip
def test_the_number_of_half_moves_is_told_where_the_moves_are_not_there(tags: str, half_moves: int | None) -> None:
    assert one("1-0", f"{TAGS}{tags}\n").half_moves == half_moves
    assert one("1. e4 e5 1-0", f"{TAGS}{tags}\n").half_moves == 2


def test_a_game_of_a_server_without_moves_has_none_unless_it_is_said_that_nobody_knows() -> None:
    tags = f'{TAGS}[Site "https://lichess.org/aaaaBBBB"]\n'
    others = ("", '[PlyCount "?"]\n', '[PlyCount "12"]\n')
    assert [one("1-0", f"{tags}{more}").half_moves for more in others] == [0, 0, 12]
    assert one("1-0", f'{tags}[PlyCount "?"]\n[Rated "yes"]\n').half_moves is None


@pytest.mark.parametrize(
    ("tag", "expected"), [("yes", True), ("no", False), ("No", False), ("maybe", True), ("?", True)]
)
def test_our_own_tag_says_whether_a_game_is_rated(tag: str, expected: bool) -> None:
    assert one("1. e4 1-0", f'{TAGS}[Rated "{tag}"]\n').rated is expected


@pytest.mark.parametrize(
    ("tag", "closing"),
    [("forfeit", ""), ("Unplayed", ""), ("White won by default", ""), ("", "{White wins by forfeit} ")],
)
def test_a_forfeit_is_a_game_that_was_not_played_unless_it_has_moves(tag: str, closing: str) -> None:
    tags = f'{TAGS}[Termination "{tag}"]\n'
    assert one(f"{closing}1-0", tags).termination == "unplayed"
    assert one(f"1. e4 e5 {closing}1-0", tags).termination == "unknown"
    assert one(f"{closing}1-0", f'{TAGS}[Termination "time forfeit"]\n').termination == "time"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2013.??.??", "2013"),
        ("2013.06.??", "2013-06"),
        ("2013.00.00", "2013"),
        ("2013.06.04", "2013-06-04"),
        ("2013-6-4", "2013-06-04"),
        ("2013", "2013"),
        ("2013.??.04", "2013"),
    ],
)
def test_dates_keep_what_is_known_of_them(given: str, expected: str) -> None:
    game = one("1. e4 1-0", TAGS.replace("2001.02.03", given) + '[EventDate "1990.01.01"]\n')
    assert (game.started_at, game.ended_at) == (expected, expected)


@pytest.mark.parametrize(
    ("control", "speed"),
    [
        ("600+5", "rapid"),
        ("300", "blitz"),
        ("40/5400+30:1800+30", "classical"),
        ("15+0", "ultraBullet"),
        ("1/259200", "correspondence"),
        ("?", None),
        ("-", None),
        ("nonsense", None),
        ("40/7200:3600", "classical"),
    ],
)
def test_time_controls_give_a_speed(control: str, speed: str | None) -> None:
    assert one("1. e4 1-0", TAGS + f'[TimeControl "{control}"]\n').speed == speed


@pytest.mark.parametrize(
    ("tags", "variant"),
    [
        ("", "standard"),
        ('[Variant "From Position"]', "fromPosition"),
        ('[Variant "Chess960"]', "chess960"),
        ('[Variant "Three-check"]', "threeCheck"),
        ('[Variant "Racing Kings"]', "racingKings"),
        ('[Variant "Crazyhouse"]', "crazyhouse"),
        ('[SetUp "1"]\n[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"]', "fromPosition"),
        ('[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]', "standard"),
    ],
)
def test_variants_are_named_as_lichess_does(tags: str, variant: str) -> None:
    assert one("1. e4 1-0", f"{TAGS}{tags}\n" if tags else TAGS).variant == variant


def test_clocks_between_other_words_stay_with_their_move() -> None:
    game = one("1. e4 {[%clk 0:01:00] fine} ({other} 1. d4 {[%clk 0:09:00]}) e5 {no clock} 2. d4 1-0")
    assert game.text == "e4 {[%clk 0:01:00]} e5 d4"


def test_tenths_of_a_second_end_a_game_to_the_millisecond() -> None:
    tags = TAGS + '[UTCDate "2001.02.03"]\n[UTCTime "00:00:00"]\n[TimeControl "60"]\n'
    assert one("1. e4 {[%clk 0:00:59.6]} 1-0", tags).ended_at == "2001-02-03T00:00:00.400Z"


def test_time_given_to_a_side_never_shortens_the_other() -> None:
    tags = TAGS.replace('"E"', '"Casual Bullet game"') + (
        '[Site "https://lichess.org/abcdefgh"]\n[TimeControl "60+0"]\n[UTCDate "2001.02.03"]\n[UTCTime "00:00:00"]\n'
    )
    moves = "1. e4 {[%clk 0:01:00]} e5 {[%clk 0:01:00]} 2. d4 {[%clk 0:01:30]} d5 {[%clk 0:00:50]} 1-0"
    assert one(moves, tags).ended_at == "2001-02-03T00:00:10Z"


def test_a_missing_result_tag_is_read_from_the_moves() -> None:
    tags = TAGS.replace('[Result "1-0"]\n', "")
    assert one("1. e4 1/2-1/2", tags).outcome == "draw"
    _, reading = read(f'{tags}\n1. e4\n\n[Event "x"]\n')
    assert "no result" in reading.faults[0].message


def test_two_games_run_together_in_one_header_are_a_fault() -> None:
    tags = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n[White "C"]\n[Black "D"]\n[Date "2001"]\n'
    _, reading = read(f"{tags}\n1-0\n")
    assert {"White stands twice", "Black stands twice"} <= {f.message[:18] for f in reading.faults}


@given(st.binary(max_size=2000))
def test_no_bytes_raise(data: bytes) -> None:
    read(data)


PIECES = st.sampled_from(
    [*TAGS.splitlines(keepends=True), "\n", "1. e4 ", "e5 ", "{", "}", "(", ")", ";", "%", "1-0", "*",
     "[%clk 0:00:1]", '[TimeControl "60+1"]\n', '[UTCDate "9999.12.31"]\n', '[UTCTime "23:59:59"]\n',
     "{ [%clk 9:59:59] } ", "[", '"',
     '[Site "https://lichess.org/abcdefgh"]\n', '[Termination "Time forfeit"]\n', "e8=Q# ", "++", "$1", "..."]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
def test_what_is_taken_from_any_mixture_is_well_formed(text: str) -> None:
    games, _ = read(text)
    for game in games:
        instant_ms(game.ended_at)
        assert game.outcome in {"white", "black", "draw"}
        assert game.white_name
        assert game.text is None or ("(" not in game.text and game.text == game.text.strip())


@pytest.mark.data
@pytest.mark.parametrize("name", ["lichess_small", "lichess_slice_20211001"])
def test_real_lichess_games_agree_with_their_reference(name: str) -> None:
    source, reference = DATA / f"{name}.pgn", DATA / f"{name}.csv"
    if not source.exists():
        pytest.skip(f"the shared folder of real games is absent: {source}")
    reading = Reading(name)
    with source.open("rb") as lines:
        games = {game.key.removeprefix("lichess:"): game for game in pgn.read_games(lines, reading)}
    assert reading.faults == []
    with reference.open(newline="") as file:
        rows = {row["game_id"]: row for row in csv.DictReader(file)}
    assert games.keys() == rows.keys()
    for key, row in rows.items():
        game = games[key]
        assert game.half_moves == int(row["half_moves"])
        assert (game.termination == "checkmate") == (row["ended_by_checkmate"] == "1")
        assert (game.termination == "time") == (row["termination"] == "Time forfeit")
        assert (game.termination == "abandonment") == (row["termination"] == "Abandoned")
        assert game.started_at == row["started_at"]
        # The reference gives a side that berserked its full time; nothing else may differ.
        base = int(row["time_control"].partition("+")[0])
        assert game.ended_at == row["ended_at"] or _berserked(game, base)


def _berserked(game: SourceGame, base: int) -> bool:
    half = f"{base // 2 // 3600}:{base // 2 // 60 % 60:02}:{base // 2 % 60:02}"
    return f"{{[%clk {half}]}}" in " ".join((game.text or "").split()[:6])


@pytest.mark.parametrize("name", ["fics.pgn", "chesscom.pgn"])
def test_what_a_server_writes_for_a_single_game_is_no_tournament(name: str) -> None:
    games, _ = fixture(name)
    assert {game.tournament for game in games} == {None}
