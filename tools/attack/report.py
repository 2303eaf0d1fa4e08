"""What a run of attacks found, put together by cause. Nothing is attacked and nothing is judged here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """A few lines for each cause: how often, which commands, and one case in full."""
    for _, cases in by_cause(findings).items():
        commands = sorted({case.commands[-1].split()[0] for case in cases})
        attacks = len({case.attack for case in cases})
        yield f"* {cases[0].what[:LONGEST]}"
        yield f"  in {', '.join(commands)}; {len(cases)} times under {attacks} attacks, such as: {cases[0].attack}"
        yield f"  after: {' ; '.join(map(_short, cases[0].commands))}"


def _short(command: str) -> str:
    return _PATH.sub("", command)
