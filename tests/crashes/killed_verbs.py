"""The verbs that write, each with its commands: data for whoever kills them (``verb_driver``). Nothing is run here.

A verb that is added here is killed by ``tests/crashes/test_killed_verbs.py``. ``{club}`` is the journal,
``{folder}`` its folder, in which the files of ``FILES`` lie. The games are ``made:1-N``, the players ``made:pN``.
"""

from collections.abc import Mapping

Steps = tuple[tuple[str, ...], ...]
GAMES, BATCH = "games.jsonl", "corrections.csv"
FILES: Mapping[str, str] = {
    BATCH: "verb,game,to,player,which\nresult,made:1-5,0-1,,\nvoid,made:1-7,,,\nannul,,,made:p2,all\n"
}  # GAMES holds a few games of a tournament that the ledger does not know


def proposed(*words: str) -> tuple[str, ...]:
    return ("correct", "{club}", *words, "--reason", "it was typed wrong", "--by", "eve")


def _decided(number: int, word: str = "approve", by: str = "adam") -> tuple[str, ...]:
    return ("correct", "{club}", word, str(number), "--by", by)


def _correction(*words: str) -> Steps:
    """A proposal, the first one, and its approval."""
    return proposed(*words), _decided(1)


def _second(*words: str) -> Steps:
    """The same where there is a proposal already."""
    return proposed(*words), _decided(2)


_IMPORT = ("import", "{club}", f"{{folder}}/{GAMES}")
_RUN = ("close-run", "{club}", "--as-of", "2015-01")
VERBS: Mapping[str, Steps] = {
    "import": (_IMPORT,),
    "import --strict": (("import", "--strict", "{club}", f"{{folder}}/{GAMES}"),),
    "player add": (("player", "add", "{club}", "club:new", "New Comer", "--rating", "1800", "--games", "30"),),
    "player set": (("player", "set", "{club}", "made:p3", "--standing", "guest", "--since", "2015-01-01"),),
    "player rename": (
        ("player", "rename", "{club}", "made:p3", "Renamed"),
        ("player", "rename", "{club}", "made:p3", "Again"),
    ),
    "erase": (("erase", "{club}", "made:p3", "--yes"),),
    "scheme adopt": (("scheme", "adopt", "{club}", "--scheme", "elo", "--from", "2015-01-01"),),
    "tournaments": (
        ("open-tournament", "{club}", "Open", "--start", "2016-01-01", "--end", "2016-01-09"),
        ("close-tournament", "{club}", "Open", "--ended", "2016-01-09"),
    ),
    "bye": (("bye", "{club}", "Open", "made:p3", "--round", "2", "--edition", "2016-01-01"),),
    "rebuild": (("rebuild", "{club}"),),
    "policy set": (("policy", "set", "{club}", "upsets", "margin=250", "--from", "2014-01-01"),),
    "publish": (("publish", "{club}", "--at", "2018-06-30", "--despite-complaints"),),
    "token": (("token", "add", "{club}", "eve", "--role", "corrector"), ("token", "revoke", "{club}", "eve")),
    "checkpoint": (("checkpoint", "{club}"), _IMPORT, ("checkpoint", "{club}")),
    "correct result": _correction("result", "made:1-3", "--to", "1/2-1/2", "--termination", "agreement"),
    "correct game": _correction("game", "made:1-3", "--field", "ended_at", "--to", "2012-05-06"),
    "correct void": _correction("void", "made:1-3"),
    "correct reinstate": _second("reinstate", "made:1-3"),
    "correct reassign": _correction("reassign", "made:1-3", "made:p1", "--to", "made:p2"),
    "correct swap-colours": _correction("swap-colours", "made:1-3"),
    "correct late": _correction("late", "made:p0", "made:p1", "--to", "1-0", "--ended", "2014-02-03"),
    "correct bye": _correction("bye", "Open", "made:p3", "--brings", "half", "--round", "2", "--edition", "2016-01-01"),
    "correct annul": _correction("annul", "made:p1", "--which", "losses", "--from", "2012", "--until", "2016"),
    "correct close": _correction("close", "made:p1", "--from", "2015-04-01"),
    "correct strength": _correction("strength", "made:p1", "--to", "advanced", "--from", "2015-04-01"),
    "correct standing": _correction("standing", "made:p1", "--to", "guest", "--from", "2015-04-01"),
    "correct rating": _correction("rating", "made:p1", "--to", "1850", "--games", "40"),
    "correct declared": _correction("declared", "made:p1", "--to", "1700", "--from", "2010-01-01"),
    "correct federation": _correction("federation", "made:p1", "--to", "SWE", "--from", "2015-04-01"),
    "correct born": _correction("born", "made:p1", "--to", "1990"),
    "correct merge": _correction("merge", "made:p3", "--into", "made:p1"),
    "correct unmerge": _second("unmerge", "made:p3"),
    "correct void-import": _correction("void-import", "1"),
    "take-back": (("take-back", "{club}", "1", "--reason", "the wrong file", "--by", "eve"), _decided(1)),
    "import after take-back": (_IMPORT,),
    "correct void-tournament": _correction("void-tournament", "Cup"),
    "correct reinstate-tournament": _second("reinstate-tournament", "Cup"),
    "correct adopt": _correction("adopt", "elo", "--from", "2015-01-01"),
    "correct close-run": _correction("close-run", "--ended", "2015-01"),
    "correct open-tournament": _correction(
        "open-tournament", "Open", "--started", "2016-01-01", "--ended", "2016-01-09"
    ),
    "correct close-tournament": _correction("close-tournament", "Open", "--ended", "2016-01-09"),
    "correct fact": _correction("fact", "run:standard@2015-01", "--field", "as_of", "--to", "2015-02"),
    "correct take-back": _correction("take-back", "run:standard@2015-01"),
    "correct put-back": _second("put-back", "run:standard@2015-01"),
    "correct undo": _second("undo", "1"),
    "correct batch": (
        ("correct", "{club}", "batch", f"{{folder}}/{BATCH}", "--reason", "typed twice", "--by", "eve"),
        _decided(1),
    ),
    "correct reject": (proposed("void", "made:1-3"), _decided(1, "reject")),
    "correct withdraw": (proposed("void", "made:1-3"), _decided(1, "withdraw", "eve")),
}
BEFORE: Mapping[str, Steps] = {
    "checkpoint": (("checkpoint-key", "{club}", "--new", "example.org/club"),),
    "correct reinstate": _correction("void", "made:1-3"),
    "correct unmerge": _correction("merge", "made:p3", "--into", "made:p1"),
    "correct void-import": (_IMPORT,),
    "take-back": (_IMPORT,),
    "import after take-back": (_IMPORT, *_correction("void-import", "1")),
    "correct void-tournament": (_IMPORT,),
    "correct reinstate-tournament": (_IMPORT, *_correction("void-tournament", "Cup")),
    "correct close-tournament": (
        ("open-tournament", "{club}", "Open", "--start", "2016-01-01", "--end", "2016-01-09"),
    ),
    "correct fact": (_RUN,),
    "correct take-back": (_RUN,),
    "correct put-back": (_RUN, *_correction("take-back", "run:standard@2015-01")),
    "correct undo": _correction("void", "made:1-3"),
}  # by verb, commands that are run before, and never killed
# Verbs that take the same path through the program share its kills; any other goes a path of its own.
ALIKE: tuple[frozenset[str], ...] = (
    frozenset({"import", "import --strict", "import after take-back"}),
    frozenset({"player add", "player set"}),
    frozenset({"scheme adopt", "tournaments", "policy set", "publish", "bye"}),
    frozenset({"correct result", "correct game", "correct reassign", "correct swap-colours", "correct fact"}),
    frozenset({"correct void", "correct reinstate", "correct take-back", "correct put-back", "correct undo"}),
    frozenset({"correct void-tournament", "correct reinstate-tournament", "correct void-import", "take-back"}),
    frozenset(
        {
            "correct late",
            "correct bye",
            "correct close",
            "correct adopt",
            "correct close-run",
            "correct open-tournament",
            "correct close-tournament",
            "correct standing",
            "correct strength",
            "correct rating",
            "correct declared",
            "correct federation",
            "correct born",
        }
    ),
    frozenset({"correct merge", "correct unmerge"}),
    frozenset({"correct reject", "correct withdraw"}),
)
SEVERAL_TRANSACTIONS = {"player add"}  # verbs with a command that commits to the journal more than once
