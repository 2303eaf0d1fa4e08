"""The site as visitors see it: its addresses, where to report a mistake, how players are shown.

Every link within the site is made by ``Site.to``, from the address that the owner named, never from what a request
says of itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from urllib.parse import quote, urlencode, urlsplit

import attrs

from ledger.answers.asking import Naming, hide_personal_data
from ledger.journal.tiles import ENTRIES

from .settings import Serving

_PLAIN = ":@,~"  # stay as they are in a part of a path
_AS_IT_IS = re.compile(rf"[A-Za-z0-9_.\-{_PLAIN}]*")  # nearly every number and key: looked at in a third of the time
_UPWARD = ("", ".", "..")  # no browser keeps them as parts of a path


GAME = "/games/{}"  # the page of a game


def is_path(name: str) -> bool:
    """Return whether a name or a key with slashes is a part of an address that every browser keeps."""
    return not any(part in _UPWARD for part in name.split("/"))


def _without_slash(url: str | None) -> str:
    return (url or "").rstrip("/")


@lru_cache
def _path_of(public_url: str) -> str:
    return urlsplit(public_url).path


def _quoted(part: str) -> str:
    """Return a part of an address."""
    return part if _AS_IT_IS.fullmatch(part) else quote(part, safe=_PLAIN)


@attrs.frozen(kw_only=True)
class Site:
    """The public facts of the site.

    Attributes:
        title: the name of the club or server; None: the address is its name.
        about: a line about it, below the name; None: there is none.
        analyse: the address at which a game is analysed, with ``{pgn}`` for its moves; None: nowhere.
        public_url: the base of all addresses, without a slash at its end; empty: not configured.
        contact: an address of mail or of a page, for reports of mistakes; None: there is none.
        names: as what players are shown to strangers.
        index: whether search machines may keep the pages.
        log: what of the journal's log the world may read: ``off``, ``hashes`` or ``entries``.
        checker: the folder of the checker of lists; None: there is none.
        desk: whether officers do their work here, too.
        verifier: the line by which others verify its checkpoints; None: there is no key.
    """

    title: str | None = None
    about: str | None = None
    analyse: str | None = None
    public_url: str = attrs.field(default="", converter=_without_slash)
    contact: str | None = None
    names: Naming = attrs.field(default=Naming.FULL, converter=Naming)
    index: bool = False
    log: str = "hashes"
    verifier: str | None = None
    checker: str | None = None
    desk: bool = False

    @classmethod
    def of(cls, serving: Serving) -> Site:
        """Return the site that settings describe."""
        return cls(
            title=serving.title,
            about=serving.about,
            analyse=serving.analyse,
            log=serving.log,
            verifier=serving.verifier,
            checker=serving.checker,
            public_url=serving.public_url,
            contact=serving.contact,
            names=serving.names,
            index=serving.index == "yes",
            desk=serving.folder is not None,
        )

    def strangers(self) -> AbstractContextManager[None]:
        """Let answers within the block show strangers what the settings allow."""
        return hide_personal_data(self.names, entries=self.log == "entries")

    @property
    def prefix(self) -> str:
        """The path before all addresses, without a slash at its end."""
        return _path_of(self.public_url)

    @property
    def name(self) -> str:
        """The name of the site: its title, or its address as people say it; empty if it is on this machine alone."""
        if self.title:
            return self.title
        parts = urlsplit(self.public_url)
        host = parts.hostname or ""
        return "" if host in {"localhost", "::1"} or host.startswith("127.") else f"{parts.netloc}{parts.path}"

    @property
    def heading(self) -> str:
        """The words at the head of every page."""
        return self.name or "Rating ledger"

    def to(self, path: str, *parts: object, **query: object) -> str:
        """Return the address of a page of the site, for a link within it.

        Args:
            path: the path, with ``{}`` for each of the parts.
            parts: of the path; each is one part, even with slashes in it.
            query: the query by name; what is None or empty is left out.
        """
        if path == GAME and not is_path(str(parts[0])):
            return self.to("/search", q=parts[0])  # which leads to the number of its entry
        words = [_quoted(str(part)) for part in parts]
        return f"{self.prefix}{path.format(*words)}{self.asking(query) if query else ''}"

    @staticmethod
    def asking(query: dict[str, object]) -> str:
        """Return the query with its question mark; empty if there is none."""
        words = [
            (name.rstrip("_"), str(value))
            for name, value in query.items()
            if value is not None and value is not False and value != ""
        ]
        return f"?{urlencode(words)}" if words else ""

    def whole(self, path: str) -> str:
        """Return a whole address, for who reads it elsewhere; *path* is as ``to`` makes it."""
        return f"{self.public_url.removesuffix(self.prefix)}{path}"

    def lasting(self, path: str) -> str:
        """Return the permanent identifier of a page: its full address or, if none is configured, a tag (RFC 4151)."""
        return self.whole(path) if self.public_url else f"tag:localhost,2026:{path}"

    @property
    def checks_lists(self) -> bool:
        """True if strangers can check lists here: a bundle shows every entry, and is signed."""
        return self.checker is not None and self.log == ENTRIES and self.verifier is not None

    def check_of(self, list_name: str, words: str) -> str:
        """Return the address at which a browser checks the last edition of a list, which is called *words* there."""
        bundle, players = self.to("/check/lists/{}", list_name.partition("/")[0]), self.to("/players")
        return self.to("/check/program/{}", "index.html", bundle=bundle, list=words, players=players, start=1)

    def tournament(self, name: str, **query: object) -> str:
        """Return the address of a tournament; one whose name no path can have goes by the list of tournaments."""
        if not is_path(name):
            return self.to("/tournaments", part=name)
        return self.to("/tournaments/{}", name, **query)

    def analysis(self, moves: Sequence[str]) -> str:
        """Return the address at which a game is analysed, with its moves and without any name."""
        numbered = [f"{place // 2 + 1}. {move}" if place % 2 == 0 else move for place, move in enumerate(moves)]
        return (self.analyse or "").replace("{pgn}", quote(" ".join(numbered), safe=""))

    def report(self, about: str) -> str | None:
        """Return where to report a mistake: an address of mail with its subject, or of a page; None: nowhere."""
        if self.contact is None:
            return None
        if urlsplit(self.contact).scheme in {"http", "https"}:
            return self.contact
        return f"mailto:{quote(self.contact.removeprefix('mailto:'), safe='@+')}?subject={quote(about, safe='')}"
