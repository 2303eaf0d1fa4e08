"""``python -m tests.vectors``: published examples of the rating schemes, run through their public functions."""

import json
import sys
from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import click

from tests.vectors.comparing import ExampleOutcome, ExampleVerdict, FunctionTally, judged, tallies, tally
from tests.vectors.functions import joined
from tests.vectors.reading import Example, MalformedFileError, examples
from tools import output, running

STDIN = "-"
HEADS = ("scheme", "function", "ran", "agree", "differ", "known bad")


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines and a table.")
def main(files: Sequence[str], as_json: bool) -> None:
    """Run the examples of FILES (- is standard input) and print a line for each that differs, then a summary.

    A file is a JSON list of objects with id, scheme, function, inputs, expected, and if need be tolerance (a number,
    or one by key of the result), known_bad (the published result is wrong: reproducing it counts as differing) and
    source. Of an expected object, only the keys that it names are compared.

    Ends with 1 if anything differs or a file cannot be read, with 2 if the command is misused.

    \b
    Example:
      python -m tests.vectors tests/fixtures/vectors.json
      jq '[.[] | select(.scheme == "fide")]' vectors.json | python -m tests.vectors -
    """
    functions = joined()
    outcomes = [judged(example, functions) for example in _all_examples(files)]
    differing = [outcome for outcome in outcomes if outcome.verdict is ExampleVerdict.DIFFERS]
    counts = list(tallies(outcomes))
    total = tally("all", "", [outcome.verdict for outcome in outcomes])
    if as_json:
        output.write_one(_document(counts, total, differing), None)
    else:
        for outcome in differing:
            output.answer(line(outcome))
        if differing:
            output.answer()
        output.answer_lines(output.titled_table("", HEADS, [*counts, total], left=2))
    sys.exit(1 if differing else 0)


def _all_examples(files: Sequence[str]) -> list[Example]:
    """What all files hold; says on standard error which of them cannot be read, and why, and ends with 1."""
    found: list[Example] = []
    unreadable = False
    for name in files:
        try:
            found += examples(_read(name))
        except (MalformedFileError, OSError) as error:
            unreadable = True
            for problem in str(error).splitlines():
                output.remark(f"{name}: {problem}")
    if unreadable:
        sys.exit(1)
    return found


def _read(name: str) -> bytes:
    if name != STDIN:
        return Path(name).read_bytes()
    if sys.stdin is None:
        raise MalformedFileError("there is no standard input: give a file")
    return sys.stdin.buffer.read()


def line(outcome: ExampleOutcome) -> str:
    """A difference on one line."""
    example = outcome.example
    expected = f"anything but {_text(example.expected)} (known bad)" if example.known_bad else _text(example.expected)
    got = " ".join(outcome.error.split()) if outcome.error else _text(outcome.got)
    return (
        f"{example.id}: {example.scheme}.{example.function} {_text(example.inputs)} expected {expected}, got {got}, "
        f"tolerance {_text(example.tolerance)} ({' '.join(example.source.split()) or 'no source'})"
    )


def _text(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot, in Python's words."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return repr(value)


def _document(
    counts: Sequence[FunctionTally], total: FunctionTally, differing: Sequence[ExampleOutcome]
) -> dict[str, Any]:
    return {
        **{name: getattr(total, name) for name in ("ran", "agree", "differ", "known_bad")},
        "functions": [count._asdict() for count in counts],
        "differences": [
            {
                **outcome.example._asdict(),
                **({"error": outcome.error} if outcome.error else {"got": _plain(outcome.got)}),
            }
            for outcome in differing
        ],
    }


if __name__ == "__main__":
    running.as_process(partial(running.run, main, None, "python -m tests.vectors"))
