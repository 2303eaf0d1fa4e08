"""A tournament report is checked before anything is recorded: one planted error each, and true reports."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import attrs
import pytest

from ledger import Ledger
from ledger.errors import MalformedError
from ledger.facts.events import RatingSeeded, Role, SchemeAdopted, TournamentOpened, WarningsAccepted
from ledger.facts.name_agreement import NameAgreement, name_agreement
from ledger.facts.player_details import PlayerDetails
from ledger.imports.reading import FileHints
from ledger.recording.findings import CHECKS, Severity
from ledger.recording.pool_choice import PoolChoice
from ledger.recording.report_checks import score_probability
from tests.kit.commands import Run
from tests.kit.places import DATA, folder_in_memory
from tests.kit.tournament_reports import EARLIER, Known, known_players, ledger_with_list, made_report
from tools.commands import REFUSED

HEAD = 9  # lines before the players
Lines = list[str]
BASE = made_report(1)
ABSENT = [player for player in known_players() if player not in BASE.players and player.rating]


def put(lines: Lines, rank: int, column: int, text: str) -> None:
    """Write a text into the line of a player, or of the head for a rank below 1, from a column on."""
    at = HEAD + rank - 1
    lines[at] = lines[at][: column - 1].ljust(column - 1) + text + lines[at][column - 1 + len(text) :]


def cell(rank: int, number: int) -> str:
    """The opponent, colour and result of a player in a round of the true report."""
    return BASE.lines()[HEAD + rank - 1][81 + 10 * number : 89 + 10 * number]


def number_of(player: Known) -> str:
    return f"{player.number:>11}"


def at_board(rank: int) -> int:
    """The first round in which a player has a game that was played."""
    return next(number for number in range(1, 8) if cell(rank, number)[-1] in "10=")


def opponent(rank: int, number: int) -> int:
    return int(cell(rank, number)[:4])


def twice(lines: Lines) -> None:
    """Let the first two players meet again in the place of two other games."""
    first = at_board(5)
    other = opponent(5, first)
    free = next(n for n in range(first + 1, 8) if cell(5, n)[-1] in "10=" and cell(other, n)[-1] in "10=")
    left, right = opponent(5, free), opponent(other, free)
    put(lines, 5, 82 + 10 * free, f"{other:4} w 1")
    put(lines, other, 82 + 10 * free, f"{5:4} b 0")
    put(lines, left, 82 + 10 * free, f"{right:4} w 1")
    put(lines, right, 82 + 10 * free, f"{left:4} b 0")
    for rank in (5, other, left, right):
        add_up(lines, rank)


def add_up(lines: Lines, rank: int) -> None:
    """Write the sum of the results of a player as points."""
    line = lines[HEAD + rank - 1]
    results = line[98::10]
    half_points = sum({"1": 2, "+": 2, "U": 2, "=": 1, "H": 1}.get(result, 0) for result in results)
    put(lines, rank, 81, f"{half_points / 2:4.1f}")


def won(rank: int) -> int:
    """The first round in which a player won a game."""
    return next(number for number in range(1, 8) if cell(rank, number)[-1] == "1")


def add(lines: Lines, line: str) -> None:
    """Add the line of a player, and count it."""
    lines.append(line)
    put(lines, -3, 5, f"{len(lines) - HEAD}")


def put_places(lines: Lines, *wrong: tuple[int, int]) -> None:
    """Write the places that follow from the points, but those of some."""
    ranks = sorted(range(1, len(BASE.players) + 1), key=lambda rank: -float(lines[HEAD + rank - 1][80:84]))
    for rank, place in (*((rank, place) for place, rank in enumerate(ranks, 1)), *wrong):
        put(lines, rank, 86, f"{place:4}")


def without_a_round(lines: Lines) -> None:
    """Take the results of the second round away, and give the points of the others."""
    for rank in range(1, len(BASE.players) + 1):
        put(lines, rank, 102, " " * 8)
        add_up(lines, rank)


def two_byes(lines: Lines) -> None:
    """Let a player have no opponent in the places of two games."""
    first, second = [number for number in range(1, 8) if cell(5, number)[-1] in "10="][:2]
    for number in (first, second):
        other = opponent(5, number)
        put(lines, 5, 82 + 10 * number, "0000 - U")
        put(lines, other, 82 + 10 * number, "0000 - H")
        add_up(lines, other)
    add_up(lines, 5)


def lost_by_both(lines: Lines, rank: int) -> None:
    put(lines, rank, 89 + 10 * won(rank), "0")
    add_up(lines, rank)


def without_days(lines: Lines) -> None:
    lines[3], lines[4], lines[8] = "042", "052", "132"


def ten_years_early(lines: Lines) -> None:
    lines[:HEAD] = [line.replace("2024/", "2014/").replace(" 24/", " 14/") for line in lines[:HEAD]]


def reverse(lines: Lines, rank: int) -> None:
    """Exchange won and lost in all games of a player."""
    for number in range(1, 8):
        if cell(rank, number)[-1] in "10":
            result = cell(rank, number)[-1]
            put(lines, rank, 89 + 10 * number, "0" if result == "1" else "1")
            put(lines, opponent(rank, number), 89 + 10 * number, result)
            add_up(lines, opponent(rank, number))
    add_up(lines, rank)


def again(line: str) -> str:
    """Return a second line of a player, without number, rating and games."""
    return f"001   25{line[8:48]}    {line[52:57]}{'':11}{line[68:80]} 0.0   25" + "  0000 - Z" * 7


def misspelt_without_number(lines: Lines) -> None:
    put(lines, 4, 17, "x")
    put(lines, 4, 58, " " * 11)


def exchange(lines: Lines, column: int, width: int, *ranks: int) -> None:
    texts = [lines[HEAD + rank - 1][column - 1 : column - 1 + width] for rank in ranks]
    for rank, text in zip(ranks, reversed(texts), strict=True):
        put(lines, rank, column, text)


def other_list(lines: Lines) -> None:
    for rank, player in enumerate(BASE.players, 1):
        if player.rating:
            put(lines, rank, 49, f"{player.rating + EARLIER:4}")


def same_surname(rank: int) -> Known:
    """Another player with a player's surname and another initial, who does not play."""
    name = BASE.players[rank - 1].name
    return next(each for each in ABSENT if each.name.split()[0] == name.split()[0] and each.name != name)


SISTER = next(r for r, p in enumerate(BASE.players, 1) if any(e.name.split()[0] == p.name.split()[0] for e in ABSENT))
LAST_DAY = f"{BASE.days[-1]:%Y/%m/%d}"
STRANGER = next(each for each in ABSENT if "Eustace" not in each.name and "Castellane" not in each.name)
GUEST = f"001   25 m    {'Vosseler, Quint':33} 3541 NED   999000111{'':13}0.0   25" + "  0000 - Z" * 7
OF_THE_FILE = {"day-missing", "rank-twice", "opponents-differ", "opponent-missing"}  # other lines contradict them, too
Plant = Callable[[Lines], None]
OF_OTHER_TESTS = {
    "no-players", "too-many-rounds", "national-differs", "table-unreadable", "team-differs",
    "time-control-differs", "time-control-missing", "announced-otherwise", "recorded-already", "day-in-future",
}  # fmt: skip
PLANTED: dict[str, tuple[str, int, Plant]] = {
    # by name: the code, the line, what is done to the lines
    "the number of somebody who does not play": (
        "number-of-another", 14, lambda lines: put(lines, 5, 58, number_of(STRANGER))),
    "two numbers are exchanged": ("numbers-swapped", 14, lambda lines: exchange(lines, 58, 11, 5, 9)),
    "the number of a sister": (
        "name-differs", HEAD + SISTER, lambda lines: put(lines, SISTER, 58, number_of(same_surname(SISTER)))),
    "a digit of a number is wrong": (
        "number-unknown", 15, lambda lines: put(lines, 6, 68, str((BASE.players[5].number + 5) % 10))),
    "two digits of a number are exchanged": (
        "number-unknown", 17, lambda lines: put(lines, 8, 66, f"{BASE.players[7].number % 1000:03}"[::-1])),
    "a number is missing": ("resembles-known", 12, lambda lines: put(lines, 3, 58, " " * 11)),
    "a number is missing and a letter of the name is wrong": (
        "resembles-known", 13, misspelt_without_number),
    "a rating is wrong": ("rating-differs", 16, lambda lines: put(lines, 7, 49, "2263")),
    "two digits of a rating are exchanged": ("rating-differs", 20, lambda lines: put(lines, 11, 49, "2141")),
    "a rating is missing": ("rating-differs", 19, lambda lines: put(lines, 10, 49, "    ")),
    "a rating is 0": ("rating-differs", 19, lambda lines: put(lines, 10, 49, "   0")),
    "a rating is that of the list before": (
        "rating-differs", 23, lambda lines: put(lines, 14, 49, f"{(BASE.players[13].rating or 0) + EARLIER:4}")),
    "all ratings are those of the list before": ("other-list", 1, other_list),
    "an unrated player has a rating": ("rating-differs", HEAD + 24, lambda lines: put(lines, 24, 49, "1850")),
    "a year of birth is another": ("birth-year-differs", 18, lambda lines: put(lines, 9, 70, "1949")),
    "a year of birth is to come": ("birth-year-differs", 18, lambda lines: put(lines, 9, 70, "2091")),
    "a federation is another": ("federation-differs", 22, lambda lines: put(lines, 13, 54, "GER")),
    "a federation does not exist": ("federation-unknown", 22, lambda lines: put(lines, 13, 54, "NRW")),
    "the tournament's federation does not exist": ("federation-unknown", 3, lambda lines: put(lines, -6, 5, "NRW")),
    "a sex is another": ("sex-differs", 12, lambda lines: put(lines, 3, 10, "m")),
    "a man has a woman's title": ("sex-differs", 14, lambda lines: put(lines, 5, 11, "WGM")),
    "a title is one that the list does not have": ("title-differs", 12, lambda lines: put(lines, 3, 11, " IM")),
    "a round has the day of a later one": (
        "rounds-out-of-order", 9, lambda lines: put(lines, 0, 112, f"{BASE.days[4]:%y/%m/%d}")),
    "a round is in another year": ("day-outside-tournament", 9, lambda lines: put(lines, 0, 152, "25")),
    "a round has no day of the calendar": ("day-unreadable", 9, lambda lines: put(lines, 0, 118, "32")),
    "a player is entered again without a number": (
        "entered-twice", HEAD + 25, lambda lines: add(lines, again(lines[HEAD + 4]))),
    "the tournament ends before its last round": (
        "day-outside-tournament", 9, lambda lines: put(lines, -4, 5, f"{BASE.days[-2]:%Y/%m/%d}")),
    "the tournament ends before it begins": ("end-before-start", 4, lambda lines: put(lines, -4, 5, "2023")),
    "more rounds than announced": ("more-rounds", 8, lambda lines: put(lines, -1, 5, "6")),
    "a player has two lines": (
        "player-twice", HEAD + 25, lambda lines: lines.append(f"001   25{lines[HEAD + 4][8:]}")),
    "a starting number is given twice": ("rank-twice", HEAD + 7, lambda lines: put(lines, 7, 5, "   6")),
    "a player plays two others in one round": (
        "opponents-differ", 15, lambda lines: put(lines, 6, 82 + 10 * at_board(6), f"{opponent(7, at_board(7)):4}")),
    "two lines have contradictory results": (
        "results-differ", min(13, HEAD + opponent(4, at_board(4))),
        lambda lines: put(lines, 4, 89 + 10 * at_board(4), "+")),
    "both players have White": ("colours-differ", 11, lambda lines: put(lines, 2, 87 + 10 * at_board(2), "b")),
    "an opponent is nobody": ("opponent-missing", 18, lambda lines: put(lines, 9, 82 + 10 * at_board(9), "  77")),
    "a result has no opponent": ("opponent-missing", 18, lambda lines: put(lines, 9, 82 + 10 * at_board(9), "0000")),
    "points are not the sum of the results": ("points-differ", 25, lambda lines: put(lines, 16, 81, " 6.5")),
    "a place is not that of the points": ("place-differs", 15, lambda lines: put_places(lines, (6, 24))),
    "a place is given twice": ("place-differs", 12, lambda lines: put_places(lines, (3, 1))),
    "the number of players is another": ("players-differ", 6, lambda lines: put(lines, -3, 5, "23")),
    "a place is beyond the number of players": ("place-differs", 15, lambda lines: put(lines, 6, 86, "  84")),
    "the tournament is of individuals and has teams": (
        "players-differ", HEAD + 25, lambda lines: lines.append("082 6")),
    "a title is none": ("field-unreadable", 12, lambda lines: put(lines, 3, 11, "GN ")),
    "fewer rounds than announced": ("fewer-rounds", 8, lambda lines: put(lines, -1, 5, "8")),
    "a player has no opponent twice": ("bye-twice", 14, two_byes),
    "a round has no results": ("round-missing", 1, without_a_round),
    "two players have each other's place in the list": (
        "order-differs", 13, lambda lines: exchange(lines, 9, 72, 4, 11)),
    "two players meet twice": ("pairing-twice", 14, twice),
    "both players of a game have lost it": (
        "lost-by-both", min(HEAD + 4, HEAD + opponent(4, won(4))), lambda lines: lost_by_both(lines, 4)),
    "a date of birth has a letter": ("field-unreadable", 18, lambda lines: put(lines, 9, 72, "x")),
    "a federation has a digit": ("field-unreadable", 19, lambda lines: put(lines, 10, 55, "0")),
    "a sex is none": ("field-unreadable", 20, lambda lines: put(lines, 11, 10, "x")),
    "a rating has a letter": ("line-unreadable", 16, lambda lines: put(lines, 7, 51, "O")),
    "the tournament begins a year early": ("days-unlikely", 4, lambda lines: put(lines, -5, 5, "2023")),
    "the tournament ends a year late": ("days-unlikely", 5, lambda lines: put(lines, -4, 5, "2025")),
    "the year is wrong throughout": ("days-unlikely", 4, ten_years_early),
    "a new player has a rating of nobody": ("rating-unlikely", HEAD + 25, lambda lines: add(lines, GUEST)),
    "the report has no days": ("day-missing", 1, without_days),
    "all results of a player are reversed": ("exceptional-performance", 11, lambda lines: reverse(lines, 2)),
}  # fmt: skip


@pytest.fixture(scope="module")
def officers_ledger() -> Iterator[Path]:
    """A ledger that knows the players of the made reports, and their list."""
    with folder_in_memory() as folder:
        yield ledger_with_list(folder / "federation.db")


def saved(folder: Path, lines: Lines) -> Path:
    place = folder / "report.trf"
    place.write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_stops_the_report_with_its_line(name: str, officers_ledger: Path, tmp_path: Path) -> None:
    code, line, plant = PLANTED[name]
    lines = BASE.lines()
    plant(lines)
    assert lines != BASE.lines()
    with Ledger.open(officers_ledger) as ledger:
        before = ledger.head(), ledger.people.highest()
        report = ledger.import_file(saved(tmp_path, lines))
        assert (ledger.head(), ledger.people.highest()) == before
    assert not report.ok
    found = [(finding.line, finding.code) for finding in report.warnings]
    found += [(fault.line, fault.message.partition(":")[0]) for fault in report.faults]
    assert (line, code) in found, report
    # and nothing else is said: a finding for nothing teaches people to accept everything
    assert code in OF_THE_FILE or {each for _, each in found} == {code}


def crosstable() -> list[list[str]]:
    """The cells of the true report as chess-results.com writes them: line 6 has the first player."""
    rows = []
    for line in BASE.lines()[HEAD:]:
        cells = [
            f"{int(line[at : at + 4])}{line[at + 5]}{line[at + 7].replace('=', '½')}"
            if int(line[at : at + 4])
            else {"H": "-½"}.get(line[at + 7], "-0")
            for at in range(91, len(line), 10)
        ]
        half_points = line[80:84].strip().replace(".0", "").replace(".5", ",5")
        rows.append([line[4:8].strip(), "", line[14:47].strip(), line[48:52].strip(), line[53:56], line[57:68].strip()])
        rows[-1] += [*cells, half_points]
    return rows


def table_file(folder: Path, rows: Sequence[Sequence[str]], days: str = "") -> Path:
    head = ["No.", "", "Name", "Rtg", "FED", "FideID", *(f"{number}.Rd" for number in range(1, 8)), "Pts."]
    dated = days or f"{BASE.days[0]:%Y/%m/%d} To {BASE.days[-1]:%Y/%m/%d}"
    above = ["From Chess-Results https://chess-results.com", BASE.name, f"Date : {dated}", "Crosstable after Round 7"]
    place = folder / "table.csv"
    place.write_text("\n".join([*above, ";".join(head), *map(";".join, rows)]) + "\n")
    return place


FIRST_CELL = crosstable()[3][6]
IN_TABLES: dict[str, tuple[str, int, int, int, str]] = {
    # by name: the code, the line, the row and column from 0, the text
    "two digits of a rating are exchanged": ("rating-differs", 16, 10, 3, "2141"),
    "a rating is missing": ("rating-differs", 15, 9, 3, ""),
    "a number is another player's": ("player-twice", 14, 8, 5, crosstable()[3][5]),
    "a digit of a number is wrong": ("number-unknown", 11, 5, 5, f"{BASE.players[5].number + 5}"),
    "a federation is another": ("federation-differs", 18, 12, 4, "GER"),
    "a federation does not exist": ("federation-unknown", 18, 12, 4, "NRW"),
    "a title is new": ("title-differs", 8, 2, 1, "IM"),
    "points are not the sum of the results": ("points-differ", 21, 15, 13, "6,5"),
    "points are none": ("field-unreadable", 21, 15, 13, "x"),
    "an opponent is nobody": ("opponent-missing", 9, 3, 6, "77w1"),
    "an opponent is the player": ("line-unreadable", 9, 3, 6, "4w1"),
    "an opponent is another": ("opponents-differ", 9, 3, 6, "9w1"),
    "both have one colour": (
        "colours-differ", 9, 3, 6, FIRST_CELL.translate(str.maketrans("wb", "bw"))),
    "both have won": ("results-differ", 9, 3, 6, f"{FIRST_CELL[:-1]}+"),
    "a result is none": ("line-unreadable", 9, 3, 6, f"{FIRST_CELL[:-1]}x"),
    "a round is empty": ("round-missing", 1, -1, 7, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_TABLES)
def test_a_planted_error_stops_a_cross_table(name: str, officers_ledger: Path, tmp_path: Path) -> None:
    code, line, at, column, text = IN_TABLES[name]
    rows = crosstable()
    for row in rows if at < 0 else [rows[at]]:
        row[column] = text
    with Ledger.open(officers_ledger) as ledger:
        before = ledger.head(), ledger.people.highest()
        report = ledger.import_file(table_file(tmp_path, rows))
        assert (ledger.head(), ledger.people.highest()) == before
    assert not report.ok
    found = [(finding.line, finding.code) for finding in report.warnings]
    assert (line, code) in [*found, *((fault.line, fault.message.partition(":")[0]) for fault in report.faults)], report


def test_a_true_cross_table_has_no_finding(officers_ledger: Path, tmp_path: Path, run: Run) -> None:
    done = run("import", officers_ledger, table_file(tmp_path, crosstable()), "--dry-run", "--first", "0")
    assert (done.code, "warning" in done.err, any(code in done.err for code in CHECKS)) == (0, False, False), done.err


def test_there_are_thirty_planted_errors_of_most_kinds() -> None:
    assert len(PLANTED) >= 30
    stopping = {code for code, check in CHECKS.items() if check.severity is not Severity.NOTE}
    assert stopping - OF_OTHER_TESTS == {code for code, _, _ in PLANTED.values()}


TRUE = [
    made_report(seed, **kind)
    for seed, kind in enumerate(
        [{}, {}, {"size": 10, "rounds": 9}, {"size": 12, "rounds": 11, "gap": 7}, {"size": 8, "rounds": 7, "times": 2},
         {"size": 40, "rounds": 9}] * 4, 100
    )
]  # fmt: skip


@pytest.mark.parametrize("true", TRUE, ids=lambda report: report.name)
def test_a_true_report_has_no_finding(true: object, officers_ledger: Path, tmp_path: Path, run: Run) -> None:
    assert isinstance(true, type(BASE))
    place = saved(tmp_path, true.lines())
    done = run("import", officers_ledger, place, "--dry-run", "--first", "0")
    assert done.code == 0, done.err
    assert "warning" not in done.err
    assert not any(code in done.err for code in CHECKS)


@pytest.mark.skipif(not DATA.is_dir(), reason="the real reports are not on this machine")
def test_real_reports_have_no_error_or_warning_in_new_ledgers(tmp_path: Path) -> None:
    for place in sorted((DATA / "trf").glob("*.trf")):
        with Ledger.create(tmp_path / f"{place.stem}.db", pool="standard", scheme="fide") as ledger:
            for _ in range(2):  # a report that is sent again says nothing new
                report = ledger.import_file(place, said=FileHints(day="2024-05-01"))
                assert report.ok, (place, report.warnings, report.faults)


def spoiled(tmp_path: Path, *names: str) -> Path:
    lines = BASE.lines()
    for name in names:
        PLANTED[name][2](lines)
    return saved(tmp_path, lines)


@pytest.mark.parametrize(
    ("listed", "shown", "day", "is_stopped"),
    [
        ("IM", "GM", "2024-05-01", True),
        ("IM", "GM", "2023-05-01", False),  # the list is older than the title may be
        ("GM", "IM", "2023-05-01", True),
        ("GM", "IM", "2024-06-01", False),  # the list is of a later month
        ("GM", "gm", "2024-05-01", False),
        ("FM", "WGM", "2024-05-01", False),
        ("GM", "", "2024-05-01", False),
    ],
)
def test_titles_are_compared_with_those_of_the_list(
    listed: str, shown: str, day: str, is_stopped: bool, tmp_path: Path
) -> None:
    woman = next(rank for rank, player in enumerate(BASE.players, 1) if player.sex == "w" and player.rating)
    player, lines = BASE.players[woman - 1], BASE.lines()
    put(lines, woman, 11, f"{shown:3}")
    with Ledger.create(tmp_path / "club.db", pool="standard", scheme="fide") as ledger:
        number = ledger.register(player.identity, player.name)
        ledger.append(RatingSeeded(player=number, pool="standard", effective_at=day, rating=str(player.rating)))
        details = PlayerDetails(sex="w", federation=player.federation, birth=str(player.born), title=listed)
        ledger.registry.describe(number, details, since=day, actor="registry")
        report = ledger.import_file(saved(tmp_path, lines))
    assert [finding.code for finding in report.warnings] == ["title-differs"] * is_stopped


@pytest.mark.parametrize(
    ("today", "words"),
    [
        (BASE.days[1], "day-in-future: round 4 has results, and is on "),
        (BASE.days[0] - timedelta(days=3), "day-in-future: the tournament has results, and begins on "),
    ],
)
def test_results_of_a_day_to_come_stop_a_report(today: date, words: str, tmp_path: Path) -> None:
    now, lines = datetime.combine(today, time(), UTC), BASE.lines()
    if today < BASE.days[0]:
        lines = [line for line in lines if not line.startswith("132")]
    with Ledger.create(tmp_path / "club.db", pool="standard", scheme="fide", clock=lambda: now) as ledger:
        first, *_ = ledger.import_file(saved(tmp_path, lines)).faults
    assert first.message.startswith(words)


@pytest.mark.parametrize(
    ("days", "rounds", "found"),
    [
        ((0, 0), 7, []),
        ((0, 2), None, [5]),
        ((1, 0), None, [4]),
        ((-31, -31), None, [4]),
        ((-90, -90), None, []),  # an edition that was announced, and of which nothing is recorded yet
        ((0, 0), 6, [8]),
    ],
)
def test_the_days_of_a_report_are_those_of_the_announcement(
    days: tuple[int, int], rounds: int | None, found: list[int], tmp_path: Path
) -> None:
    first, last = (day + timedelta(days=more) for day, more in zip((BASE.days[0], BASE.days[-1]), days, strict=True))
    with Ledger.open(ledger_with_list(tmp_path / "club.db")) as ledger:
        ledger.append(
            TournamentOpened(
                pool="standard", tournament=BASE.name, starts_at=f"{first}", ends_at=f"{last}", rounds=rounds
            )
        )
        report = ledger.import_file(saved(tmp_path, BASE.lines()))
    assert [(finding.line, finding.code) for finding in report.warnings] == [
        (line, "announced-otherwise") for line in found
    ]


@pytest.mark.parametrize("change", ["the name", "the first day", "all days", "another event", "nothing"])
def test_an_event_that_is_recorded_already_is_noticed(change: str, tmp_path: Path) -> None:
    with Ledger.open(ledger_with_list(tmp_path / "club.db")) as ledger:
        assert ledger.import_file(saved(tmp_path, BASE.lines())).ok
        lines = made_report(1, size=24 - 2 * (change == "another event")).lines()
        if change in {"the name", "another event"}:
            lines[0] = "012 Springfield Masters"
        elif change == "the first day":
            lines[3] = f"042 {BASE.days[0] - timedelta(days=1):%Y/%m/%d}"
        elif change == "all days":
            later = attrs.evolve(BASE, days=[day + timedelta(days=31) for day in BASE.days]).lines()
            # it was rated in between
            lines = [line[:48] + "    " + line[52:] if line.startswith("001") else line for line in later]
        size = ledger.journal.size()
        report = ledger.import_file(saved(tmp_path, lines))
        codes = [(finding.line, finding.code) for finding in report.warnings]
        assert codes == [(1, "recorded-already")] * (change in {"the name", "the first day", "all days"})
        assert report.ok is not bool(codes)
        assert (ledger.journal.size() == size) is (change != "another event")


def test_accepted_warnings_are_recorded_with_the_person(tmp_path: Path, run: Run) -> None:
    club = ledger_with_list(tmp_path / "club.db")
    place = spoiled(tmp_path, "a rating is wrong", "a federation is another")
    with Ledger.open(club) as ledger:
        size = ledger.journal.size()
    for words in ([], ["--accept", "rating-differs"]):
        done = run("import", club, place, *words)
        assert done.code == REFUSED
        assert f"{place}:22: warning: federation-differs: 13 (" in done.err
        assert "has the federation GER, and NOR in the ledger" in done.err
        assert "nothing is recorded with these warnings: correct the report, or accept them by --accept" in done.err
        assert "opened" not in done.err
        with Ledger.open(club) as ledger:
            assert ledger.journal.size() == size
    done = run("import", club, place, "--accept", "rating-differs", "--accept", "federation-differs", "--actor", "eve")
    assert (done.code, "accepted warning: rating-differs: 7 (" in done.err) == (0, True)
    with Ledger.open(club) as ledger:
        (entry,) = ledger.entries("warnings-accepted")
        assert (entry.actor, entry.facts["codes"]) == ("eve", "federation-differs rating-differs")
        assert (entry.facts["tournament"], entry.facts["warnings"]) == (BASE.name, 2)
    assert "warnings-accepted" in run("log", club, "--kind", "warnings-accepted").out
    assert run("audit", club).code == 0
    # sent again, it brings nothing that would have to be accepted once more
    assert run("import", club, place, "--accept", "rating-differs", "--accept", "federation-differs").code == 0
    with Ledger.open(club) as ledger:
        assert len(list(ledger.entries("warnings-accepted"))) == 1


def test_four_eyes_ask_for_a_second_person_who_accepts_the_warnings(tmp_path: Path, run: Run) -> None:
    club = ledger_with_list(tmp_path / "club.db")
    place, others = spoiled(tmp_path, "a rating is wrong"), ("--accept", "rating-differs", "--actor")
    assert run("policy", "set", club, "four-eyes", "on=true", "warnings=true", "--by", "eve").code == 0
    with Ledger.open(club) as ledger:
        people = ledger.people.highest()
    for actor in ("eve", "eve", "EVE"):
        done = run("import", club, place, *others, actor)
        assert (done.code, "four eyes ask for another person" in done.err) == (REFUSED, True)
        with Ledger.open(club) as ledger:
            assert len(list(ledger.entries("warnings-accepted"))) == 1
            assert (len(list(ledger.entries("game-recorded"))), ledger.people.highest()) == (0, people)
    assert run("import", club, place).code == REFUSED, "who accepts nothing adds no second person"
    # a dry run of the second person shows what would be recorded, and accepts nothing
    assert run("import", club, place, *others, "adam", "--dry-run").code == 0
    assert run("import", club, place, *others, "adam").code == 0
    with Ledger.open(club) as ledger:
        assert [entry.actor for entry in ledger.entries("warnings-accepted")] == ["eve", "adam"]
        assert list(ledger.entries("game-recorded"))
    assert run("audit", club).code == 0
    assert run("import", club, place, *others, "eve").code == 0, "sent again, it brings nothing to accept"
    # a report without warnings needs one person
    assert run("import", club, saved(tmp_path, made_report(101).lines())).code == 0


TABLE = """Made-up Cup;;;;;
Date : 2024/05/03 To 2024/05/05;;;;;
Rk.;Name;Rtg;1.Rd;2.Rd;Pts.
1;Abendroth, Anselm;2350;2w1;3b1;2
2;Bellweather, Anselm;2307;1b0;4w1;1
3;Castellane, Anselm;2264;4b1;1w0;1
4;Dragomirov, Anselm;2221;3w0;2b0;0
"""


@pytest.mark.parametrize(
    ("before", "now", "code", "words"),
    [
        ("1w0;1", "1w0;2", "points-differ", ":6: warning: points-differ: 3 (Castellane, Anselm) has 2 points, and 1"),
        ("4;Drag", "1;Drag", "", ":7: error: rank-twice: the number 1 is that of line 4, too; correct one"),
        (
            "3b1;2",
            "3b½;2",
            "",
            ":4: error: results-differ: round 2 against 3 (Castellane, Anselm): the results contradict",
        ),
        ("2nd", "2nd", "", ""),
    ],
)
def test_a_cross_table_is_checked_as_a_report_is(
    before: str, now: str, code: str, words: str, tmp_path: Path, run: Run
) -> None:
    club, place = tmp_path / "club.db", tmp_path / "cup.csv"
    place.write_text(TABLE.replace(before, now), encoding="utf-8")
    assert run("init", club).code == 0
    size = run("log", club).out.count("\n")
    done = run("import", club, place)
    if words:
        assert (done.code, f"{place}{words}" in done.err) == (REFUSED, True), done.err
        assert run("log", club).out.count("\n") == size
    if code:
        done = run("import", club, place, "--accept", code, "--actor", "eve")
    with Ledger.open(club) as ledger:
        assert len(list(ledger.entries("game-recorded"))) == (4 if code or not words else 0), done.err
        assert [entry.actor for entry in ledger.entries("warnings-accepted")] == (["eve"] if code else [])
        # its numbers may be places, so that nothing but its games is recorded
        assert not list(ledger.entries("player-entered"))


def test_points_are_checked_by_the_scoring_of_the_report(tmp_path: Path) -> None:
    club = ledger_with_list(tmp_path / "club.db")
    lines = [*BASE.lines(), "162 W 3.0    D 1.0    L 0.0"]
    for place, line in enumerate(lines):
        if line.startswith("001"):
            worth = {"1": 3.0, "+": 3.0, "=": 1.0, "H": 1.0}
            points = sum(worth.get(line[at], 0.0) for at in range(98, len(line), 10))
            lines[place] = f"{line[:80]}{points:4.1f}{line[84:]}"
    with Ledger.open(club) as ledger:
        assert ledger.import_file(saved(tmp_path, lines), accept=[]).warnings == []
    lines[HEAD] = f"{lines[HEAD][:80]}99.0{lines[HEAD][84:]}"
    with Ledger.open(club) as ledger:
        (finding,) = ledger.import_file(saved(tmp_path, lines)).warnings
    assert (finding.code, "99 points, and" in finding.message, "at 3, 1 and 0" in finding.message) == (
        "points-differ", True, True,
    )  # fmt: skip


def test_an_acceptance_names_the_person_whose_token_it_was(tmp_path: Path) -> None:
    with Ledger.open(ledger_with_list(tmp_path / "club.db")) as ledger:
        token = ledger.tokens.add("rita", [Role.RECORDER])
        place = spoiled(tmp_path, "points are not the sum of the results")
        assert ledger.import_file(place, accept=["points-differ"], token=token).accepted == {"points-differ"}
        (entry,) = ledger.entries("warnings-accepted")
        assert (entry.actor, entry.facts["codes"]) == ("rita", "points-differ")


def test_a_dry_run_judges_as_the_import_does_and_shows_games(officers_ledger: Path, tmp_path: Path, run: Run) -> None:
    done = run("import", officers_ledger, spoiled(tmp_path, "a rating is wrong"), "--dry-run", "--first", "2")
    assert done.code == REFUSED
    assert "report.trf:16: warning: rating-differs: 7 (" in done.err
    assert "has the rating 2263 here, and 2243 in the list standard@2024-05-01/1" in done.err
    assert "First games, as they were understood" in done.out
    assert run("import", officers_ledger, tmp_path / "report.trf", "--dry-run", "--accept", "rating-differs").code == 0


def test_codes_that_are_no_warnings_are_refused(officers_ledger: Path, tmp_path: Path, run: Run) -> None:
    place = spoiled(tmp_path)
    done = run("import", officers_ledger, place, "--accept", "rating-difers", "--accept", "more-rounds")
    assert done.code == REFUSED
    assert "there is no warning 'rating-difers': did you mean 'rating-differs'" in done.err
    assert "only warnings are accepted; 'more-rounds': error" in done.err
    with Ledger.open(officers_ledger) as ledger, pytest.raises(MalformedError, match="there is no warning"):
        ledger.import_file(place, accept=["nonsense"])


def test_errors_and_warnings_are_told_at_once(officers_ledger: Path, tmp_path: Path) -> None:
    names = ("more rounds than announced", "a rating is wrong", "two lines have contradictory results")
    with Ledger.open(officers_ledger) as ledger:
        report = ledger.import_file(spoiled(tmp_path, *names), accept=["rating-differs"])
    assert report.recorded == 0
    assert [finding.code for finding in report.warnings] == ["rating-differs"]
    assert [fault.line for fault in report.faults] == [8, 13]


def test_ratings_are_compared_in_pools_of_fide_alone(tmp_path: Path) -> None:
    """Ratings that a club's own formula gives are not those that a report shows."""
    with Ledger.create(tmp_path / "club.db", pool="standard", scheme="elo") as ledger:
        for player in BASE.players:
            ledger.register(player.identity, player.name)
        assert ledger.import_file(spoiled(tmp_path)).ok
        later = made_report(1).lines()
        later[0], later[3], later[4] = "012 Another", "042 2024/07/01", "052 2024/07/09"
        del later[8]
        assert ledger.import_file(saved(tmp_path, later), accept=["recorded-already"]).ok


def test_ratings_of_other_lists_are_compared_where_most_agree(tmp_path: Path) -> None:
    with Ledger.open(ledger_with_list(tmp_path / "club.db", "elo")) as ledger:
        for names, codes in (([], []), (["a rating is wrong"], ["rating-differs"])):
            report = ledger.import_file(spoiled(tmp_path, *names))
            assert [finding.code for finding in report.warnings] == codes
    # a federation's list, and a report with the ratings of FIDE
    with Ledger.open(ledger_with_list(tmp_path / "other.db", "elo")) as ledger:
        assert ledger.import_file(spoiled(tmp_path, "all ratings are those of the list before")).ok


@pytest.mark.parametrize("names", [[], ["a rating is wrong"]])
def test_a_rapid_report_is_compared_with_the_standard_ratings_with_which_its_players_begin(
    names: list[str], tmp_path: Path
) -> None:
    with Ledger.open(ledger_with_list(tmp_path / "federation.db")) as ledger:
        ledger.append(SchemeAdopted(pool="rapid", scheme="fide", settings={"rapid": True, "from_pool": "standard"}))
        report = ledger.import_file(spoiled(tmp_path, *names), choice=PoolChoice(pool="rapid"))
        assert [finding.code for finding in report.warnings] == ["rating-differs"] * len(names)
        assert report.ok is not bool(names)


def national(rank: int, number: str, name: str | None = None) -> str:
    """The line of TRF26 with the number of a player at the Norwegian federation."""
    return f"NOR {rank:4}      {name or BASE.players[rank - 1].name:33}{'':10}{number:>11}"


NATIONAL: dict[str, tuple[str, int, list[str]]] = {
    "another than is known": ("national-differs", HEAD + 25, [national(2, "4711")]),
    "that of another player": ("number-of-another", HEAD + 25, [national(2, "10003")]),
    "on two lines": ("player-twice", HEAD + 26, [national(2, "10002"), national(10, "10002")]),
    "of another name": ("number-of-another", HEAD + 25, [national(2, "10002", "Quist, Ulrikke")]),
}


@pytest.mark.parametrize("name", NATIONAL)
def test_national_numbers_are_compared(name: str, tmp_path: Path) -> None:
    code, line, lines = NATIONAL[name]
    right = [national(rank, f"{10000 + rank}") for rank in (2, 3)]
    with Ledger.open(ledger_with_list(tmp_path / "club.db")) as ledger:
        for rank in (2, 3):
            number = ledger.player(BASE.players[rank - 1].identity).player
            ledger.registry.describe(number, PlayerDetails(national=f"{10000 + rank}"), since="2024-04-01", actor="eve")
        report = ledger.import_file(saved(tmp_path, [*BASE.lines(), *lines]))
        assert not report.ok
        found = [(finding.line, finding.code) for finding in report.warnings]
        found += [(fault.line, fault.message.partition(":")[0]) for fault in report.faults]
        assert (line, code) in found
        assert ledger.import_file(saved(tmp_path, [*BASE.lines(), *right])).ok


def test_anonymous_names_with_other_numbers_are_of_other_players() -> None:
    assert name_agreement("Test0005 Player0005", "Test0007 Player0007") is NameAgreement.OTHER
    assert name_agreement("Test0005 Player0005", "Player0005 Test0005") is NameAgreement.SAME


def test_an_acceptance_is_no_fact_that_callers_append(officers_ledger: Path) -> None:
    event = WarningsAccepted(
        pool="standard", tournament="Open", edition="2024-05-03", number=1, codes="rating-differs", warnings=1
    )
    with Ledger.open(officers_ledger) as ledger, pytest.raises(Exception, match="import --accept"):
        ledger.append(event)


@pytest.mark.parametrize(
    ("name", "other", "agreement"),
    [
        ("Carlsen, Magnus", "MAGNUS CARLSEN", NameAgreement.SAME),
        ("Sadler, Matthew D", "Sadler,M", NameAgreement.SAME),
        ("Zivkovic,Ma", "Zivkovic, Marko", NameAgreement.SAME),
        ("Nepomniachtchi, Ian", "Nepomniashchy, Yan", NameAgreement.SAME),
        ("Li, W", "Li, Wenliang", NameAgreement.SAME),
        ("Hernandez Bonilla, Amali", "Hernandez Bonilla, Amalia", NameAgreement.SAME),
        ("Weemaes, Ronald", "Weemaes, Ronny", NameAgreement.SAME),
        ("Muzychuk, Anna", "Muzychuk, Mariya", NameAgreement.PARTLY),
        ("Garcia Lopez, Juan", "Garcia Lopez, Maria", NameAgreement.PARTLY),
        ("Motoc, Alina", "L'Ami, Alina", NameAgreement.PARTLY),
        ("Carlsen, Magnus", "Ivanchuk, Vassily", NameAgreement.OTHER),
        ("Babiy, Olga", "Kalinina, O", NameAgreement.OTHER),
    ],
)
def test_names_agree_as_far_as_spellings_of_one_person_do(name: str, other: str, agreement: NameAgreement) -> None:
    assert name_agreement(name, other) == name_agreement(other, name) == agreement


def test_the_probability_of_a_score_is_that_of_the_rarer_side() -> None:
    assert score_probability([0.5] * 10, 20) == pytest.approx(0.5**10)
    assert score_probability([0.5] * 10, 0) == pytest.approx(0.5**10)
    assert score_probability([0.9, 0.9], 1) == pytest.approx(0.19)  # half a point is no rarer than one or none
    assert score_probability([], 0) == 1
