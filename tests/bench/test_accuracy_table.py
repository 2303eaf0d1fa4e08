"""The table of the schemes' accuracy: each scheme predicts the games of 2007 as it did when the figures were written.

``LEDGER_PROFILE=nightly pytest --write-snapshots tests/bench/test_accuracy_table.py`` writes them anew after a change
that is meant, and ``python -m tools.docs parts`` the table.
"""

from pathlib import Path

import attrs
import pytest

from ledger.schemes import built_in_names
from tests.kit import snapshots
from tests.kit.places import DATA, OTB
from tests.tiers import times
from tools.bench.sections_accuracy import FIRST_YEAR, LISTS, accuracies, ledger_since, systems
from tools.bench.table import ACCURACY, AT_LEAST, BY_NAME, FIDE, SYSTEMS

COMPILED_SOON = 4  # systems whose kernels take seconds to compile; all of them take minutes


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(
    not (OTB.exists() and (DATA / LISTS).exists()), reason="the folder of real games does not stand beside the checkout"
)
def test_no_scheme_predicts_otherwise_than_its_figures_say(tmp_path: Path) -> None:
    """Those that were published and one more; every night all of them."""
    chosen = systems()[: times(quick=COMPILED_SOON, ci=COMPILED_SOON, nightly=len(systems()))]
    with ledger_since(FIRST_YEAR, DATA, tmp_path) as ledger:
        figures = dict(accuracies(ledger, DATA, chosen))
    assert list(figures) == [FIDE, *(system.name for system in chosen)]
    for name, error in figures.items():
        row = {key: list(value) if isinstance(value, tuple) else value for key, value in attrs.asdict(error).items()}
        snapshots.check_item(ACCURACY, name, row)


def test_every_built_in_scheme_is_in_the_table_or_has_a_reason_why_it_is_not() -> None:
    compared = [words["scheme"] for words in SYSTEMS["compared"].values() if "scheme" in words]
    left_out = SYSTEMS["left_out"]
    assert sorted({*compared, *left_out}) == sorted(built_in_names())
    assert not {*compared} & {*left_out}


def test_every_system_has_its_figures() -> None:
    snapshots.check_names(ACCURACY, [FIDE, *(system.name for system in systems())])


def test_the_systems_that_were_published_come_first_and_are_nearly_as_good_as_published() -> None:
    published = {system.name: system.published for system in systems() if system.published is not None}
    figures = snapshots.items(ACCURACY)
    assert [system.name for system in systems()][: len(published)] == list(published)
    for name, loss in published.items():
        assert BY_NAME["accuracy-published"].judged(figures[name]["log_loss"] / loss) == AT_LEAST
