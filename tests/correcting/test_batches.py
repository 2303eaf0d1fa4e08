"""Files of corrections: every row read, every fault at once with its line, nothing proposed where there is one."""

import pytest

from ledger.correcting.verbs import COLUMNS, VERBS, read_batch
from ledger.errors import UnknownNameError
from ledger.facts.changes import Verb
from ledger.ledger import Ledger


def read(four: Ledger, text: str) -> tuple[list[Verb], list[str]]:
    rows, faults = read_batch(four.corrections.verbs, text.encode())
    return [row.change.do for row in rows], [f"{fault.line}: {fault.message}" for fault in faults]


def test_each_row_is_a_change_and_blank_ones_are_passed_over(four: Ledger) -> None:
    text = "\ufeffverb,game,to,player,which\nvoid,g1,,,\n\n,,,,\nresult,g2, 0-1 ,,\nannul,,,Ann,all\n"
    assert read(four, text) == ([Verb.ANNUL, Verb.REPLACE, Verb.ANNUL_GAMES], [])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheet_may_part_its_cells_otherwise(separator: str, four: Ledger) -> None:
    text = "verb,game,to\r\nvoid,g1,\r\nresult,g2,1/2-1/2\r\n".replace(",", separator)
    assert read(four, text) == ([Verb.ANNUL, Verb.REPLACE], [])


def test_all_faults_are_named_at_once_with_their_lines(four: Ledger) -> None:
    text = "verb,game,to\nvoid,g99,\nresult,g1,draw and\nvoids,g1,\nresult,g1,2-0\nvoid,g1\n"
    changes, faults = read(four, text)
    assert changes == []
    assert [fault.partition(" ")[0] for fault in faults] == ["2:", "3:", "4:", "5:", "6:"]
    assert "no game 'g99'" in faults[0]
    assert "result 'draw and' must be 1-0" in faults[1]
    assert "no verb 'voids'" in faults[2]
    assert "has 2 cells, the header 3" in faults[4]


@pytest.mark.parametrize("forfeit", ["1-0F", "+/-", "1-0ff"])
def test_a_forfeit_was_not_played_as_everywhere_else(forfeit: str, four: Ledger) -> None:
    rows, _ = read_batch(
        four.corrections.verbs,
        f"verb,game,white,black,to,ended\nresult,g1,,,{forfeit},\nlate,,Ann,Bob,{forfeit},2024-02-03\n"
        f"swap-colours,g2,,,{forfeit},\n".encode(),
    )
    assert [(row.change.facts or {})["termination"] for row in rows] == ["unplayed"] * 3
    assert [(row.change.facts or {})["outcome"] for row in rows[:2]] == ["white"] * 2


def test_a_forfeit_that_ended_by_time_is_asked_about(four: Ledger) -> None:
    text = "verb,game,to,termination\nresult,g1,1-0F,time\nresult,g1,1-0F,unplayed\nresult,g1,1-0,time\n"
    changes, faults = read(four, text)
    assert changes == [Verb.REPLACE] * 2
    assert faults == ["2: 'result': termination time: a forfeit, '1-0F', was never played; correct one of the two"]


def test_half_a_character_is_no_fact(four: Ledger) -> None:
    for verb, words in (("void", {"game": "g\ud800"}), ("take-back", {"fact": "run:\ud800"})):
        with pytest.raises(UnknownNameError, match="no "):
            four.corrections.verbs.change(verb, words)


def test_brackets_within_brackets_are_no_value(four: Ledger) -> None:
    _, faults = read(four, f"verb,scheme,from,settings\nadopt,elo,2024-05-01,{'[' * 100_000}\n")
    assert "settings must be JSON (maximum recursion depth" in faults[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the header has no column 'verb'"),
        ("game,to\ng1,1-0\n", "1: the header has no column 'verb'"),
        ("verb,gmae\nvoid,g1\n", "1: no column 'gmae'; did you mean 'game'"),
        ("verb,game,game\nvoid,g1,g1\n", "1: column 'game' stands twice"),
        ("verb,game\n", "1: holds no row"),
        ('verb,game\nvoid,"g1\n', "cannot be read as CSV"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, message: str, four: Ledger) -> None:
    changes, faults = read(four, text)
    assert changes == []
    assert message in faults[0]


def test_a_file_of_other_letters_is_refused_with_its_line(four: Ledger) -> None:
    _, faults = read_batch(four.corrections.verbs, b"verb,game\nvoid,g1\nvoid,\xff\n")
    assert [(fault.line, fault.message) for fault in faults] == [(3, "is not UTF-8: save the file as UTF-8")]


def test_every_word_of_a_verb_is_a_column() -> None:
    for verb in VERBS.values():
        assert {*verb.needed, *verb.options, *verb.allowed} <= {*COLUMNS}
