"""Headings and results in other languages: what each is read as, which notes say so, and what is never guessed."""

import itertools
from pathlib import Path

import pytest

from ledger.imports import languages
from ledger.imports.csv import values
from ledger.imports.csv.games import parse_results, read_frames
from ledger.imports.csv.header import COLUMNS, parse_headings, read_header
from ledger.imports.players import formats as player_lists
from ledger.imports.reading import FileHints, Reading
from tests.kit.commands import Run
from tests.kit.source_files import read_csv, written

# language: headings of a table, and the words for a win of White, of Black, and a draw
TABLES = {
    "German": ("Turnier;Runde;Datum;Weiß;Elo Weiß;Schwarz;Ergebnis", ("Weiß", "Schwarz gewinnt", "Unentschieden")),
    "French": ("Tournoi;Ronde;Date;Blancs;Elo blancs;Noirs;Résultat", ("blancs", "noirs", "nulle")),
    "Spanish": ("Torneo;Ronda;Fecha;Blancas;Elo blancas;Negras;Resultado", ("Blancas", "Negras", "Tablas")),
    "Italian": ("Torneo;Turno;Data;Bianco;Elo bianco;Nero;Risultato", ("bianco", "nero", "patta")),
    "Dutch": ("Toernooi;Ronde;Datum;Wit;Elo wit;Zwart;Uitslag", ("wit", "zwart", "remise")),
    "Portuguese": ("Torneio;Rodada;Data;Brancas;Elo brancas;Pretas;Resultado", ("brancas", "pretas", "empate")),
    "Polish": ("Turniej;Runda;Data;Białe;Elo białe;Czarne;Wynik", ("białe", "czarne", "remis")),
    "Czech": ("Turnaj;Kolo;Datum;Bílý;Elo bílý;Černý;Výsledek", ("bílý", "černý", "remíza")),
    "Swedish": ("Turnering;Rond;Datum;Vit;Elo vit;Svart;Resultat", ("vit", "svart", "remi")),
}


@pytest.mark.parametrize("language", TABLES)
def test_a_table_is_read_in_its_language_and_notes_say_how(language: str) -> None:
    header, words = TABLES[language]
    rows = "".join(f"Open;{n};2024-05-0{n};Ann;1900;Bob;{word}\n" for n, word in enumerate(words, 1))
    reading = Reading("x.csv")
    (frame,) = read_frames([f"{header}\n{rows}".encode()], reading, hints=FileHints())
    assert reading.faults == []
    assert frame["outcome"].to_list() == ["white", "black", "draw"]
    assert set(frame["white_rating"]) == {1900}
    assert frame.select("tournament", "round", "ended_at").rows()[2] == ("Open", "3", "2024-05-03")
    first, *others = sorted(reading.notes, key=lambda note: "as white" not in note.message)
    columns = header.split(";")
    assert first.line == 1
    assert f"{columns[3]!r} is read as white" in first.message
    assert f"{columns[6]!r} is read as result" in first.message
    read = dict(zip(words, ("1-0", "0-1", "1/2-1/2"), strict=True))
    foreign = {word: result for word, result in read.items() if word != "remis"}
    assert {note.message for note in others} == {f"{word!r} is read as {result}" for word, result in foreign.items()}


def test_a_dry_run_shows_what_is_read_before_it_is_recorded(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "liga.csv", "Liga\nWeiß;Schwarz;Ergebnis;Datum\nAnn;Bob;1:0 kampflos;2024\n".encode())
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path, "--dry-run")
    words = "'Weiß' is read as white, 'Schwarz' is read as black, 'Ergebnis' is read as result, 'Datum' is read as date"
    assert done.code == 0
    assert f"{path}:2: note: {words}\n" in done.err
    assert f"{path}:2: note: '1:0 kampflos' is read as +/-, a forfeit\n" in done.err


def test_every_word_of_a_language_means_one_column() -> None:
    for language in languages._HEADINGS:
        words = [
            (languages.fold_heading(word), column)
            for column, group in languages._HEADINGS[language].items()
            for word in group
        ]
        for (word, column), (other, meant) in itertools.combinations(set(words), 2):
            assert word != other or column == meant, (language, word)
        assert set(languages._headings_of(language).values()) <= {
            *COLUMNS, *player_lists.COLUMNS, "first", "second", "board",
        }  # fmt: skip


def test_no_word_for_a_result_has_a_meaning_already_and_each_meaning_is_one() -> None:
    assert set(languages._RESULTS) <= set(values._RESULTS)
    for word in languages._RESULT:
        with pytest.raises(ValueError, match="must be 1-0"):
            values.parse_result(word)


def test_our_own_headings_go_first_and_a_heading_that_somebody_names_goes_before_all() -> None:
    layout = read_header("Weiß;Schwarz;Ergebnis;date;Datum;Data", headings={})
    assert (layout.labels["ended_at"], "Datum" in layout.foreign) == ("date", False)
    named = read_header("Weiß;Schwarz;Gast;Ergebnis;Datum", headings=parse_headings(["white=Gast"]))
    assert (named.labels["white"], named.labels["black"]) == ("Gast", "Schwarz")
    games, faults, _ = read_csv("Weiß;Schwarz;Ergebnis;Datum\nAnn;Bob;Weiß;2024\n", results=parse_results(["Weiß=0-1"]))
    assert ([game["outcome"] for game in games], faults) == (["black"], [])


def test_two_headings_for_one_column_are_a_fault() -> None:
    with pytest.raises(ValueError, match="the columns 'Weiß' and 'Spieler Weiß' both mean 'white'; keep one of them"):
        read_header("Weiß;Spieler Weiß;Schwarz;Ergebnis;Datum", headings={})


def test_words_of_two_languages_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="there is no column 'black'"):
        read_header("Weiß;Noirs;Ergebnis;Datum", headings={})
    with pytest.raises(ValueError, match="there is no column 'black'"):  # "sort" is black in Danish
        read_header("white;sort;result;date;Runde", headings={})
    assert read_header("Hvid;Sort;Resultat;Dato", headings={}).places["black"] == 1


def test_a_list_of_players_has_headings_of_its_language(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "członkowie.csv", "Nazwisko i imię;Rok urodzenia;Elo\nAnn Ek;1990;1834\n".encode())
    reading = Reading("x")
    (frame,) = player_lists.read_csv([path.read_bytes()], reading)
    assert frame.select("name", "birth_year", "rating").rows() == [("Ann Ek", 1990, "1834")]
    assert run("init", tmp_path / "club.db", "--scheme", "fide").code == 0
    done = run("players", "import", tmp_path / "club.db", path, "--since", "2024-01-01")
    words = "'Nazwisko i imię' is read as name, 'Rok urodzenia' is read as birth_year"
    assert (done.code, f"{path}:1: note: {words}\n" in done.err) == (0, True), done.err
