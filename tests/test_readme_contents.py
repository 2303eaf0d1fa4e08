"""What the READMEs hold: where things stand, where links lead. Their transcripts are run by ``test_readme``."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from ledger.book import proposal_gate
from ledger.correcting.verbs import VERBS
from ledger.facts.events import BY_KIND
from ledger.journal import rules
from ledger.schemes import built_in_names
from tests.kit import readmes
from tests.kit.code import sources
from tests.kit.places import ROOT
from tools.cli import COMMANDS

TEXTS = readmes.texts()
FIRST = TEXTS[readmes.FIRST]


def test_the_first_readme_is_short_and_soon_shows_a_result() -> None:
    assert len(FIRST.encode()) <= 20_000
    first_lines = FIRST.splitlines()[:40]
    assert "pip install ." in first_lines
    assert any(re.match(r" +1 +13  ann +1923 ", line) for line in first_lines)


@pytest.mark.parametrize("readme", TEXTS)
def test_every_link_leads_somewhere(readme: str) -> None:
    lost = []
    for link in readmes.links(TEXTS[readme]):
        file, anchor = readmes.target(readme, link)
        if not file.exists() or (anchor and anchor not in readmes.anchors(file.read_text(encoding="utf-8"))):
            lost.append(link)
    assert lost == []


def test_the_first_readme_leads_to_all_others() -> None:
    reached = {readmes.target(readmes.FIRST, link)[0].resolve() for link in readmes.links(FIRST)}
    assert {ROOT / name for name in TEXTS if name != readmes.FIRST} <= reached


def test_nothing_stands_in_two_readmes() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for name, text in TEXTS.items():
        for sentence in re.split(r"(?<=[.;:|]) |\n\n|<br>|\n(?=[*|])", readmes.prose(text)):
            places[" ".join(re.sub(r"\]\([^)]*\)", "]", sentence).split())].add(name)
    assert {sentence: found for sentence, found in places.items() if len(found) > 1 and len(sentence) > 70} == {}


@pytest.mark.parametrize("name", [*COMMANDS, *BY_KIND, *rules.RULES, *proposal_gate.RULES, *VERBS, *built_in_names()])
def test_every_command_kind_rule_verb_and_scheme_is_told(name: str) -> None:
    assert any(re.search(rf"`(correct DB )?{re.escape(name)}\b", text) for text in TEXTS.values())


def test_a_readme_that_a_message_or_a_help_names_is_there() -> None:
    texts = (path.read_text(encoding="utf-8") for path in sources("ledger", "tools").values())
    named = {name for text in texts for name in re.findall(r"(?<![\w/.])[\w./]*README\.md", text)}
    assert {name for name in named if name.startswith(("ledger/", "schemas/"))}
    assert {name for name in named if not (ROOT / name).is_file()} == set()
