"""``python -m tests.imports IMPORTER --runs N``: spoiled files against an importer, for as long as one likes.

With atheris (the dependency group ``attack``) the run is led by the code that the files reach, and options behind
``--`` are libFuzzer's; without it Hypothesis draws new files, and shows a small one that breaks a demand.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import click
from hypothesis import HealthCheck, given, settings

from tests.imports.spoiled_files import spoiled_files
from tools import output

IMPORTERS = (
    "open", "pgn", "lichess-ndjson", "ledger-jsonl", "chess-com", "csv", "csv-rows", "csv-values", "trf", "trf-lines",
    "crosstable", "import",
)  # fmt: skip
BEGINNINGS, LONGEST = 32, 4_096  # of what atheris changes: how many, and bytes


@click.command()
@click.argument("name", metavar="IMPORTER", type=click.Choice(IMPORTERS))
@click.argument("options", nargs=-1)
@click.option("--runs", default=100_000, show_default=True, help="How many files.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder for files that reach new code; by atheris alone.")
@click.option("--blind", is_flag=True, help="Do without atheris even where it is installed.")
def main(name: str, options: Sequence[str], runs: int, keep: Path | None, *, blind: bool) -> None:
    """Attack IMPORTER with spoiled files until one breaks a demand; ends with 1 then.

    \b
    Example:
      python -m tests.imports pgn --runs 1000000
    """
    guide = None if blind or find_spec("atheris") is None else "atheris"
    if guide:
        import atheris

        with atheris.instrument_imports(include=["ledger.imports", "ledger.recording.game_import"]):
            from tests.imports.demands import demand
    else:
        from tests.imports.demands import demand

    last: list[bytes] = []

    @settings(max_examples=runs, deadline=None, database=None, suppress_health_check=[*HealthCheck])
    @given(spoiled_files(name))
    def attack(data: bytes) -> None:
        last[:] = [data]  # the smallest one that breaks a demand is tried last
        demand(name, data)

    if guide:
        with TemporaryDirectory() as made:
            corpus = keep or Path(made)
            corpus.mkdir(parents=True, exist_ok=True)
            for number in range(BEGINNINGS):  # what Hypothesis draws a file from; it makes nothing of a few bytes
                (corpus / f"beginning-{number}").write_bytes(Random(number).randbytes(LONGEST))
            words = [f"-runs={runs}", f"-max_len={LONGEST}", "-len_control=0", "-timeout=60", "-rss_limit_mb=2048"]
            atheris.Setup([sys.argv[0], str(corpus), *words, *options], attack.hypothesis.fuzz_one_input)  # type: ignore[attr-defined]
            atheris.Fuzz()  # ends the process
    try:
        attack()
    except AssertionError as error:
        output.error(f"{error} for {last}")
        sys.exit(1)
    output.answer(f"{name}: {runs:,} files broke no demand")


if __name__ == "__main__":
    main()
