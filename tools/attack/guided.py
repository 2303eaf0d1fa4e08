"""One process of the fuzzer led by atheris: ``python -m tools.attack.guided IMPORTER FOLDER CORPUS [OPTION...]``.

``fuzzing`` starts it and reads what it leaves in FOLDER; the options are libFuzzer's. It needs the dependency group
``attack``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["ledger.imports", "ledger.journal.recorder_columns"]):
    from . import importers

from . import mutation
from .findings import Findings


def main(name: str, folder: str, *options: str) -> None:
    """Attack until the options say stop; the process ends with it."""
    findings = Findings(Path(folder), name)
    mutator = mutation.Mutator(name, mutation.built_in(name))

    def attack(data: bytes) -> None:
        findings.take(data, importers.wrong_with(name, data))

    def spoiled(data: bytes, limit: int, seed: int) -> bytes:
        random = Random(seed)  # noqa: S311
        if random.random() < 0.5:
            return bytes(atheris.Mutate(data, limit))
        return mutator.spoiled(random, data, limit)

    atheris.Setup([sys.argv[0], *options], attack, custom_mutator=spoiled)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
