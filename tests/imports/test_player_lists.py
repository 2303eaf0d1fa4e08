"""Lists of players: CSV, FIDE's text and XML, to source players; what is wrong is told with its line."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ledger.imports.files import open_source, wrap_file
from ledger.imports.players import fide, formats
from ledger.imports.players.fide import NO_DAY
from ledger.imports.reading import Reading
from tests.kit.source_files import COMBINED, MADE_UP, OF_SEPTEMBER, combined, of_september, pieces, xml

SINCE = "2026-09-01"
ADA = {
    "identity": "fide:900001",
    "name": "Quill, Ada",
    "rating": "2344",
    "k_factor": "20",
    "birth_year": 1990,
    "sex": "m",
    "federation": "POL",
    "active": True,
}


def read(text: str | bytes, kind: str = "standard", since: str | None = SINCE) -> tuple[list[dict[str, Any]], Reading]:
    """The players that are read, without what is not told, and the account."""
    source = wrap_file(io.BytesIO(text.encode() if isinstance(text, str) else text), "list")
    found = list(formats.read_players(source, formats.detect_format(source.first), kind, since))
    rows = [row for frame in found for row in frame.iter_rows(named=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in rows], source.reading


def faults(text: str, **asked: Any) -> list[str]:
    """The faults as they are shown."""
    return [f"{fault.line}: {fault.message}" for fault in read(text, **asked)[1].faults]


@pytest.mark.parametrize(
    "text", [combined(), combined().replace("\n", "\r\n"), of_september(), xml(), xml(MADE_UP[:1])]
)
def test_a_list_of_fide_gives_rating_k_and_year_of_birth_but_not_the_games_of_its_month(text: str) -> None:
    rows, reading = read(text)
    line = rows[0].pop("line")
    assert rows[0] == {**ADA, "since": SINCE}
    assert (line, reading.faults) == (3 if text.startswith("<") else 2, [])


@pytest.mark.parametrize("text", [combined(), xml()])
def test_a_combined_list_gives_the_rating_that_is_asked_for(text: str) -> None:
    rapid, blitz = read(text, "rapid")[0], read(text, "blitz")[0]
    assert [row.get("rating") for row in rapid] == ["2310", None, None]
    assert [row.get("rating") for row in blitz] == [None, "1555", None]
    assert [row.get("k_factor") for row in blitz] == [None, "40", None]  # a K without a rating tells nothing
    assert rapid[2]["name"] == "Zabłocki-Núñez, Maximilian Alexander of the Long Names"


def test_the_list_of_one_kind_tells_from_when_it_holds() -> None:
    rows, _ = read(of_september(), since=None)
    assert {row["since"] for row in rows} == {SINCE}
    assert read(of_september(), since="2026-10")[0][0]["since"] == "2026-10"


@pytest.mark.parametrize("text", [combined(), xml()])
def test_a_list_that_does_not_tell_from_when_it_holds_must_be_told(text: str) -> None:
    assert faults(text, since=None) == [f"1: {NO_DAY}"]


def test_an_old_text_list_in_windows_letters_is_read() -> None:
    old = "ID number Name                              TitlFed  Mar11 GamesBorn  Flag\n"
    old += f"{'  900009':<10}{'Müller, Åse':<34}{'    NOR':<9}{'1899':<6}{'9':<5}1950\n"
    rows, reading = read(old.encode("cp1252"), since=None)
    assert reading.faults == []
    assert rows[0]["name"] == "Müller, Åse"
    assert (rows[0]["identity"], rows[0]["rating"], rows[0]["since"]) == ("fide:900009", "1899", "2011-03-01")


def test_a_bad_line_of_a_text_list_is_named() -> None:
    lines = combined().splitlines()
    spoilt = [lines[0], lines[1], "abc" + lines[2][3:], lines[3].replace("0000", "0999")]
    found = faults("\n".join(spoilt))
    assert [message[:3] for message in found] == ["3: ", "4: "]
    assert "must be a FIDE id" in found[0]
    assert "must be a whole number from 1700 to 2200" in found[1]
    assert faults("ID Number      Name          Fed\n1   x\n")[0].startswith("1: nothing was read: the first line")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('<!DOCTYPE p [<!ENTITY a "x">]>\n' + xml()[22:], 1, "a document type or an entity stands here"),
        ('<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<playerslist/>', 2, "a document type"),
        (xml()[:-300], 48, "no well-formed XML"),
        ("<playerslist>\n<player>&lol;</player></playerslist>", 2, "no well-formed XML (undefined entity)"),
        ("<playerslist>" + "<a>" * 30, 1, "more than 8 deep"),
        (f"<playerslist><player><name>{'x' * 2000}</name></player></playerslist>", 1, "more than 1000 characters"),
        ("<playerslist></playerslist>", 1, "there is no <player> in it"),
        (xml().replace("900002", "9000x2"), 20, "must be a FIDE id"),
    ],
)
def test_a_bad_xml_list_is_a_fault_with_its_line(text: str, line: int, says: str) -> None:
    (message,) = faults(text)
    assert says in message
    if "well-formed" not in says:
        assert message.startswith(f"{line}: ")


def test_an_xml_list_that_is_cut_into_pieces_anywhere_gives_the_same_players() -> None:
    data = xml().encode()
    whole = [frame.rows() for frame in fide.read_xml([data], Reading("x"), "rapid", SINCE)]
    pieces = [data[i : i + 7] for i in range(0, len(data), 7)]
    assert [frame.rows() for frame in fide.read_xml(pieces, Reading("x"), "rapid", SINCE)] == whole


def test_formats_are_told_by_how_a_file_begins() -> None:
    assert [formats.detect_format(text.encode()) for text in (combined(), of_september(), xml(), "name,rating\n")] == [
        "fide-text",
        "fide-text",
        "fide-xml",
        "csv",
    ]
    assert formats.detect_format(b"ID Number,Name,Rating\n") == "csv"
    assert COMBINED.index("SRtng") == OF_SEPTEMBER.index("SEP26") == 113


def test_a_csv_of_all_columns_under_other_names_is_read() -> None:
    rows, reading = read(
        "Name;ID;Elo;Rated games;RD;Volatility;Peak;K;Born;Standing;Since;Shoe size\n"
        "Ann;lichess:ann;1850,5;120;60.50;0.06;1999;20;2001-02-03;welcomer;2024-01;44\n"
        "Bob;12;;;;;;;;;;\n;;;;;;;;;;;\n",
        since=None,
    )
    assert [fault.line for fault in reading.faults] == [4]
    assert "tells of nobody" in reading.faults[0].message
    ann, bob = rows
    assert ann == {
        "line": 2, "identity": "lichess:ann", "name": "Ann", "rating": "1850.5", "games": 120, "deviation": "60.5",
        "volatility": "0.06", "highest": "1999", "k_factor": "20", "birth_year": 2001, "standing": "welcomer",
        "since": "2024-01", "birth": "2001-02-03",
    }  # fmt: skip
    assert bob == {"line": 3, "identity": "id:12", "name": "Bob"}


def test_a_player_known_by_name_or_by_number_alone_gets_an_identity() -> None:
    rows, _ = read("name,fide_id\nAda  Quill,\n,900001\n")
    assert [(row["identity"], row["name"]) for row in rows] == [
        ("name:ada quill", "Ada Quill"),
        ("fide:900001", "FIDE 900001"),
    ]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ("x,abc,,,", "rating must be a number above 0"),
        ("x,100000,,,", "rating must be a number above 0"),
        ("x,1e3,,,", "rating must be a number above 0"),
        ("x,1800,1.5,,", "games must be a whole number"),
        ("x,1800,,1699,", "born must be a whole number from 1700"),
        ("x,1800,,,vip", "standing must be one of full, guest"),
        ("a\x07b,1800,,,", "without control characters"),
    ],
)
def test_a_bad_cell_is_named_with_its_column_and_line(cells: str, says: str) -> None:
    (message,) = faults(f"name,rating,games,born,standing\nok,1700,,,\n{cells}\n")
    assert message.startswith("3: ")
    assert says in message


def test_a_deviation_without_a_rating_is_a_fault() -> None:
    assert faults("name,rating,rd\nx,,60\n") == ["2: there is deviation 60 and no rating; fill in the rating"]


def test_a_header_without_players_is_a_fault_of_the_first_line() -> None:
    assert faults("rating,games\n1,2\n")[0].startswith("1: nothing was read: there is no column 'identity'")


def test_packed_lists_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "list.txt.gz"
    path.write_bytes(gzip.compress(combined().encode()))
    with open_source(str(path)) as source:
        assert formats.detect_format(source.first) == "fide-text"
        assert sum(map(len, formats.read_players(source, "fide-text", "standard", SINCE))) == 3


@pytest.mark.parametrize(("name", "fmt"), [("players_list_foa.txt", "fide-text"), ("players_list_xml.xml", "fide-xml")])
def test_the_archive_that_fide_offers_is_read_as_it_is(name: str, fmt: str, tmp_path: Path) -> None:
    path = tmp_path / "players_list.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, combined() if fmt == "fide-text" else xml())
    with open_source(str(path)) as source:
        assert formats.detect_format(source.first) == fmt
        assert sum(map(len, formats.read_players(source, fmt, "standard", SINCE))) == 3


def test_the_starting_list_of_a_tournament_has_titles_above_its_headings() -> None:
    reading = Reading("x")
    text = (
        "From the Tournament-Database of Chess-Results https://chess-results.com;;;;\nClub open;;;;\nStart;;;;\n"
        "No.;;Name;FideID;Rtg\n1;GM;Carlsen, Magnus;1503014;2839\n2;;Ek, Ann;;1800\n"
    )
    (frame,) = formats.read_csv([text.encode()], reading)
    assert frame.select("line", "identity", "rating").rows() == [
        (5, "fide:1503014", "2839"), (6, "name:ek, ann", "1800"),
    ]  # fmt: skip
    assert [note.line for note in reading.notes] == [1]


def test_blocks_of_any_size_give_the_same_players() -> None:
    text = "name,rating\n" + "".join(f"Player {i},{1000 + i}\n" for i in range(200))
    whole = [row for frame in formats.read_csv([text.encode()], Reading("x")) for row in frame.rows()]
    parts = [row for frame in formats.read_csv(pieces(text.encode(), 100), Reading("x"), 100) for row in frame.rows()]
    assert parts == whole
    assert len(whole) == 200


@pytest.mark.parametrize("text", [combined(), xml()])
def test_a_combined_list_gives_all_three_ratings_at_once(text: str) -> None:
    rows, reading = read(text, "all")
    assert [row.get("rating") for row in rows] == ["2344", "1402", None]
    assert [(row.get("rapid_rating"), row.get("rapid_k_factor")) for row in rows] == [
        ("2310", "20"),
        (None, None),
        (None, None),
    ]
    assert [(row.get("blitz_rating"), row.get("blitz_k_factor")) for row in rows] == [
        (None, None),
        ("1555", "40"),
        (None, None),
    ]
    assert reading.faults == []


def test_a_list_of_one_kind_is_no_combined_list() -> None:
    (fault,) = faults(of_september(), kind="all")
    assert "no column for the rating and the rating of rapid and the rating of blitz" in fault


def test_a_bad_rating_of_a_further_kind_is_a_fault_with_its_line() -> None:
    (fault,) = faults(combined().replace("1555", "15x5"), kind="all")
    assert fault.startswith("3: ")
    assert "the rating of blitz" in fault
