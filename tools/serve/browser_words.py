"""Messages as a browser shows them: they name the fields and pages of the desk, not the options of commands.

The library has one text for a fault, in the words of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WORDS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"a word that --result gives a meaning, such as --result (\S+)", r"a word of the field Results, such as \1"),
        (r"name its heading: --column (\S+)", r"name its heading in the field Columns: \1"),
        (r"--dates (dmy|mdy|ymd)", r"\1 in the field Dates"),
        (r"say when with --day", "say when in the field Day"),
        (r"name the right --encoding", "save the file as UTF-8"),
        (r"import the file with --equal-rows", "number them in a column sequence"),
        (r"unpack the file by '[^']*' and import that", "unpack the file and send that"),
        (r"give the games of a variant a pool by --variant VARIANT=POOL", "import the games of each variant apart"),
        (r"give it by RATING_LEDGER_TOKEN or --token-file", "sign in with one"),
        (r"show one by RATING_LEDGER_TOKEN or --token-file", "sign in with one"),
        (r"propose it with '[^']*--propose'", "propose it"),
        (r"propose 'correct fact (\S+) --field (\w+)'", r"propose to correct the field \2 of \1"),
        (r"'correct DB (\w+)' makes", r"a proposal to \1 them makes"),
        (r"see 'players alike'", "see who may be one person"),
        (r"see 'correct (?:list|show)'", "see the history"),
        (r"'result GAME --to RESULT --termination WORD --half-moves NUMBER'", "the result, how it ended, half-moves"),
        (r"(?<![\w'\"-])--([a-z]+(?:-[a-z]+)*)", lambda match: f"“{match[1].replace('-', ' ')}”"),
    )
)


def in_browser(text: object) -> str:
    """Return a message without options of commands."""
    words = str(text)
    if "--" in words or "'" in words or "RATING_LEDGER" in words:
        for pattern, instead in _WORDS:
            words = pattern.sub(instead, words)
    return words
