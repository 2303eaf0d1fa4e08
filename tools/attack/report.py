"""What a run of attacks found, put together by cause. Nothing is attacked and nothing is judged here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from .verdicts import Finding

_PATH = re.compile(r"(?<![\w.])/[^\s:;,'\")]*/")
_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\(\[[^)]*\)|\[[^\]]*\]")
_NUMBER = re.compile(r"(?<!:)\b\d+(\.\d+)?\b")
_TRACE = re.compile(r"(ends in a traceback at [^ ]*:\d+: [\w.]+)")
LONGEST = 400


def cause(finding: Finding) -> str:
    """What went wrong without the values of this one case, so that many cases of one cause come together."""
    traced = _TRACE.search(finding.what)
    if traced:
        return traced[1]
    return _NUMBER.sub("N", _VALUE.sub("…", _PATH.sub("", finding.what)))[:LONGEST]


def by_cause(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of each cause, the most frequent cause first."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(cause(finding), []).append(finding)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def lines(findings: Iterable[Finding], repeating: Callable[[str], str]) -> Iterator[str]:
    """A few lines for each cause: how often, which commands, one case in full, and how to repeat that.

    Args:
        findings: what did not hold.
        repeating: the command that repeats the attack of that name.
    """
    for cases in by_cause(findings).values():
        first = cases[0]
        commands = sorted({case.commands[-1].split()[0] for case in cases if case.commands})
        attacks = len({case.attack for case in cases})
        yield f"* {first.what[:LONGEST]}"
        yield f"  in {', '.join(commands)}; {len(cases)} times under {attacks} attacks, such as: {first.attack}"
        yield f"  after: {' ; '.join(_PATH.sub('', command) for command in first.commands)}"
        yield f"  again: {repeating(first.attack)}"
