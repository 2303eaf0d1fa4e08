"""The desk of the officers: which pages there are, what each form has the writer do, and where it leads.

The desk has no rule of its own: what is refused is refused by the library, in its words, next to the form with what was
typed kept. How requests are taken is in ``desk_requests``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from ledger.correcting.verbs import WORDS
from ledger.errors import MalformedError
from ledger.facts.events import Decision
from ledger.facts.player_details import readable_details
from ledger.facts.source_games import DETAIL_TEXTS
from ledger.facts.words import Strength
from ledger.ledger import Ledger

from . import desk_pages as pages
from . import desk_work, limits
from .importing import OF_A_FILE, Sent, previewed
from .paging import PAGE
from .parameters import Parameter, Query, instant, text
from .routes import Cost
from .writer_socket import Ask

PREFIX = "/desk"
DONE = "done"  # behind the question mark of a page that a form leads to: what it has done
ACCEPT = "accept_"  # before the code of a warning about a report, in the name of a checkbox
Typed = Mapping[str, str]


@attrs.frozen(kw_only=True)
class DeskPage:
    """A page of the desk.

    Attributes:
        path: behind the prefix; words in braces are taken from it.
        gather: what it shows.
        template: the template that shows it.
        parameters: of the query.
        cost: what it costs.
        tried: a verb of the writer whose answer it shows, too; None: none.
    """

    path: str
    gather: Callable[[Ledger, Query], Any]
    template: str
    parameters: tuple[Parameter, ...] = ()
    cost: Cost = Cost.INDEX
    tried: str | None = None


FAULTY_FILES = {"faults.csv": "table", "rows": "rows"}  # behind the path of an import: its files of faulty rows


class Leads(NamedTuple):
    """Where a form leads once it is done: a path behind the prefix, and what is said there, a word of ``SAID``."""

    path: str
    said: str | None = None
    query: Mapping[str, Any] = {}


@attrs.frozen(kw_only=True)
class Deed:
    """The action of a form.

    Attributes:
        path: where it is sent, behind the prefix.
        page: path of the page that has the form, which is shown again where it is refused.
        ask: makes the question to the writer, of the path's words and of the typed ones; raises MalformedError. A file
            that waits is ``file``, its number ``upload``.
        leads: where it leads, of what was typed and of the answer; None: the page is shown again, with the answer.
        file: name of the field with a file; None: it has none.
        look: checks the file before anything is done, if the writer is not asked.
        is_long: whether it goes on after its answer, and is looked after where it leads.
    """

    path: str
    page: str
    ask: Callable[[Mapping[str, str], Typed], Ask]
    leads: Callable[[Typed, Mapping[str, Any]], Leads | None]
    file: str | None = None
    look: Callable[[Ledger, Typed], Mapping[str, Any]] | None = None
    is_long: bool = False


SAID = {
    "proposed": "Proposed. It acts once another person approves it.",
    "batch": "Proposed, in as many proposals as were asked for. They act once somebody approves them.",
    "approved": "Approved. The ratings follow.",
    "rejected": "Rejected.",
    "withdrawn": "Withdrawn.",
    "added": "Registered.",
    "known": "This player is registered already, with the same facts: nothing was recorded.",
    "strength": "The strength is recorded. It is shown until the player has completed the provisional games.",
    "renamed": "Renamed. The old name is forgotten.",
    "settled": "Set aside. The rows with faults are forgotten.",
    "described": "Recorded.",
    "described-already": "All of it was stated already: nothing was recorded.",
    "published": "Published.",
    "published-already": "Published already, with the same rows: nothing was recorded.",
}


# -- what is typed -------------------------------------------------------------------------------------------------


def _whole(typed: Typed, name: str, faults: list[str]) -> int | None:
    word = typed.get(name, "").strip()
    if not word:
        return None
    if not (word.isascii() and word.isdecimal() and len(word) < 16):
        faults.append(f"{name.replace('_', ' ')} must be a whole number, got {word!r}")
        return None
    return int(word)


def _word(typed: Typed, name: str) -> str | None:
    return typed.get(name, "").strip() or None


def _needed(typed: Typed, name: str, faults: list[str]) -> str:
    word = typed.get(name, "").strip()
    if not word:
        faults.append(f"{name.replace('_', ' ')} is missing")
    return word


def _sound(faults: list[str]) -> None:
    if faults:
        raise MalformedError(faults)


def _sent(typed: Typed) -> dict[str, Any]:
    """Return a file of games, and what is said of it, as ``importing.Sent`` has it."""
    if not typed.get("file"):
        raise MalformedError(["choose a file; one that was looked at waits until another one is, or you sign out"])
    words = {name: _word(typed, name) for name in OF_A_FILE}
    flags = {name: name in typed for name in ("strict", "record_alike")}
    accept = [name.removeprefix(ACCEPT) for name in typed if name.startswith(ACCEPT)]
    name = typed.get("filename") or "the file"
    return {"path": typed["file"], "name": name, "accept": accept, **words, **flags}


def _look_at_file(ledger: Ledger, typed: Typed) -> Mapping[str, Any]:
    return previewed(ledger, Sent.of(_sent(typed)))


def _import(_: Mapping[str, str], typed: Typed) -> Ask:
    args = {"upload": typed.get("upload", ""), "sent": _sent(typed), "corrects": _word(typed, "corrects")}
    return Ask("desk-import", args)


def _settle(path: Mapping[str, str], _: Typed) -> Ask:
    return Ask("desk-import-settle", {"upload": path["upload"]})


def _propose(path: Mapping[str, str], typed: Typed) -> Ask:
    words = {name: typed[name] for name in WORDS if name in typed}
    args = {"verb": path["verb"], "words": words, "reason": typed.get("reason", ""), "once": typed["once"]}
    return Ask("desk-propose", args)


def _batch(_: Mapping[str, str], typed: Typed) -> Ask:
    if not typed.get("file"):
        raise MalformedError(["choose a file"])
    if Path(typed["file"]).stat().st_size > limits.BATCH_BYTES:
        raise MalformedError([f"the file has more than {limits.BATCH_BYTES:,} bytes: part it, or look which one it is"])
    args = {
        "path": typed["file"],
        "each": "each" in typed,
        "reason": typed.get("reason", ""),
        "once": typed["once"],
    }
    return Ask("desk-propose-batch", args)


def _decide(path: Mapping[str, str], typed: Typed) -> Ask:
    """Reject a proposal, or withdraw it."""
    faults: list[str] = []
    number = _whole(path, "number", faults)
    decision = typed.get("decision", "")
    if decision not in {Decision.REJECTED, Decision.WITHDRAWN}:
        faults.append(f"decision must be {Decision.REJECTED} or {Decision.WITHDRAWN}, got {decision!r}")
    _sound(faults)
    args = {"proposal": number, "decision": decision, "reason": typed.get("reason", "").strip(), "seen": None}
    args |= {"once": typed["once"], "despite_games": False}
    return Ask("desk-decide", args)


def _approve(path: Mapping[str, str], typed: Typed) -> Ask:
    """Approve a proposal, as the preview showed it: with how many entries that was."""
    faults: list[str] = []
    number, seen = _whole(path, "number", faults), _whole(typed, "seen", faults)
    if seen is None:
        faults.append("look at the preview first: it says with how many entries it was worked out")
    _sound(faults)
    args = {
        "proposal": number,
        "decision": Decision.APPROVED.value,
        "reason": typed.get("reason", "").strip(),
        "seen": seen,
        "despite_games": "despite_games" in typed,
        "once": typed["once"],
    }
    return Ask("desk-decide", args)


def _add_player(_: Mapping[str, str], typed: Typed) -> Ask:
    faults: list[str] = []
    args = {
        "identity": _needed(typed, "identity", faults),
        "name": _needed(typed, "name", faults),
        "standing": _needed(typed, "standing", faults),
        "birth_year": _whole(typed, "birth_year", faults),
        "declared_rating": _whole(typed, "declared_rating", faults),
        "joined": _word(typed, "joined"),
    }
    _sound(faults)
    return Ask("desk-player", args)


def _rename(_: Mapping[str, str], typed: Typed) -> Ask:
    faults: list[str] = []
    args = {"player": _needed(typed, "player", faults), "name": _needed(typed, "new_name", faults)}
    _sound(faults)
    return Ask("desk-rename", args)


def _choose_strength(_: Mapping[str, str], typed: Typed) -> Ask:
    faults: list[str] = []
    args = {"player": _needed(typed, "player", faults), "strength": _needed(typed, "strength", faults)}
    if args["strength"] and args["strength"] not in set(Strength):
        faults.append(f"strength must be one of {', '.join(Strength)}, got {args['strength'][:40]!r}")
    _sound(faults)
    return Ask("desk-strength", {**args, "pool": _word(typed, "pool"), "since": _word(typed, "since")})


def _describe(_: Mapping[str, str], typed: Typed) -> Ask:
    faults: list[str] = []
    player = _needed(typed, "described_player", faults)
    activity = {"yes": True, "no": False}.get(typed.get("active", "").strip())
    stated: dict[str, Any] = {name: word for name in DETAIL_TEXTS if (word := _word(typed, name)) is not None}
    stated |= {} if activity is None else {"active": activity}
    faults += readable_details(stated)[1]
    if not stated:
        faults.append("nothing is filled in: state something about the player")
    _sound(faults)
    return Ask("desk-describe", {"player": player, "details": stated, "since": _word(typed, "since")})


def _publish(_: Mapping[str, str], typed: Typed) -> Ask:
    faults: list[str] = []
    args = {
        "pool": _word(typed, "pool"),
        "as_of": _needed(typed, "at", faults),
        "despite_complaints": "despite" in typed,
        "seen": _whole(typed, "seen", faults),
        "despite_games": "despite_games" in typed,
        "once": typed["once"],
    }
    _sound(faults)
    return Ask("desk-publish", args)


def _published(_: Typed, answer: Mapping[str, Any]) -> Leads | None:
    if "list" not in answer:
        return None
    pool = str(answer["list"]).partition("@")[0]
    return Leads("/publish", "published" if answer["recorded"] else "published-already", {"pool": pool})


_ABOUT = (
    text("game", "the game that they speak of"),
    text("player", "the player that they speak of"),
    text("tournament", "the tournament that they speak of"),
    text("q", "a game, a player or a tournament"),
)
PAGES: tuple[DeskPage, ...] = (
    DeskPage(path="", gather=desk_work.work, template="desk/work.html", cost=Cost.SCAN, tried="desk-imports"),
    DeskPage(path="/health", gather=pages.health, template="desk/health.html"),
    DeskPage(path="/import", gather=pages.games_form, template="desk/import.html"),
    DeskPage(path="/imports", gather=pages.imported_files, template="desk/imports.html", parameters=(PAGE,)),
    DeskPage(
        path="/import/{upload}", gather=pages.upload, template="desk/imported.html", tried="desk-import-state",
    ),
    DeskPage(
        path="/players", gather=pages.players, template="desk/players.html",
        parameters=(text("player", "a player who is to be renamed or described"),),
    ),
    DeskPage(path="/players/alike", gather=pages.alike, template="desk/alike.html", cost=Cost.SCAN),
    DeskPage(path="/propose", gather=pages.verbs, template="desk/verbs.html", parameters=_ABOUT),
    DeskPage(
        path="/propose/{verb}", gather=pages.verb, template="desk/verb.html",
        parameters=tuple(text(word, "what stands in that field") for word in WORDS),
    ),
    DeskPage(path="/batch", gather=pages.batch, template="desk/batch.html"),
    DeskPage(path="/queue", gather=desk_work.queue, template="desk/queue.html", parameters=(PAGE,), cost=Cost.SCAN),
    DeskPage(path="/proposals/{number}", gather=pages.proposal, template="desk/proposal.html"),
    DeskPage(
        path="/proposals/{number}/preview", gather=pages.proposal, template="desk/preview.html", tried="desk-preview",
    ),
    DeskPage(
        path="/publish", gather=pages.publish, template="desk/publish.html", cost=Cost.SCAN,
        parameters=(text("pool", "the pool"), instant("at", "the day, month or year of the list")),
    ),
    DeskPage(
        path="/history", gather=desk_work.history, template="desk/history.html", parameters=(PAGE,), cost=Cost.SCAN,
    ),
)  # fmt: skip
DEEDS: tuple[Deed, ...] = (
    Deed(
        path="/import", page="/import", ask=_import, leads=lambda _, __: None, file="file", look=_look_at_file,
    ),
    Deed(
        path="/import/confirm", page="/import", ask=_import, is_long=True,
        leads=lambda typed, _: Leads(f"/import/{typed['upload']}"),
    ),
    Deed(
        path="/import/{upload}/settle", page="/import/{upload}", ask=_settle, leads=lambda _, __: Leads("", "settled"),
    ),
    Deed(
        path="/propose/{verb}", page="/propose/{verb}", ask=_propose,
        leads=lambda _, answer: Leads(f"/proposals/{answer['proposal']}", "proposed"),
    ),
    Deed(path="/batch", page="/batch", ask=_batch, leads=lambda _, __: Leads("/queue", "batch"), file="file"),
    Deed(
        path="/proposals/{number}/decide", page="/proposals/{number}", ask=_decide,
        leads=lambda typed, _: Leads(f"/proposals/{typed['number']}", typed["decision"]),
    ),
    Deed(
        path="/proposals/{number}/approve", page="/proposals/{number}/preview", ask=_approve,
        leads=lambda typed, _: Leads(f"/proposals/{typed['number']}", "approved"),
    ),
    Deed(
        path="/players/add", page="/players", ask=_add_player,
        leads=lambda _, answer: Leads(
            "/players", "added" if answer["recorded"] else "known", {"player": answer["player"]}
        ),
    ),
    Deed(
        path="/players/rename", page="/players", ask=_rename,
        leads=lambda _, answer: Leads("/players", "renamed", {"player": answer["player"]}),
    ),
    Deed(
        path="/players/strength", page="/players", ask=_choose_strength,
        leads=lambda _, answer: Leads(
            "/players", "strength" if answer["recorded"] else "known", {"player": answer["player"]}
        ),
    ),
    Deed(
        path="/players/describe", page="/players", ask=_describe,
        leads=lambda _, answer: Leads(
            "/players", "described" if answer["recorded"] else "described-already", {"player": answer["player"]}
        ),
    ),
    Deed(path="/publish", page="/publish", ask=_publish, leads=_published),
)  # fmt: skip
