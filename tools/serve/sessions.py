"""Who is signed in at the desk: the cookie, where a form may come from, and how wrong tokens are slowed down.

What a session is worth the library says each time; nothing of it is kept here. No token and no word of a session goes
into an address, a message or a log.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import attrs
from starlette.requests import Request
from starlette.responses import Response

from ledger.auth.sessions import LONGEST_MS, form_token, is_form_token

SESSION, VISIT = "session", "visit"
FORM_TOKEN, ONCE = "form_token", "once"  # names of fields that every form has
MOST_COOKIE = 200  # characters
_PORTS = {"http": 80, "https": 443}
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

# -- cookies -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Cookies:
    """The cookies of a site.

    Over HTTPS they are ``__Host-`` cookies: a browser takes them from this host alone and sends them to no other one.
    Such a cookie is for all paths of its host, so that it is sent to any other program there, outside of the prefix
    of this site, too: a ledger with officers belongs on a host that it shares only with programs that it trusts.

    Attributes:
        public_url: the address of the site, without a slash at its end.
    """

    public_url: str

    @property
    def is_secure(self) -> bool:
        """True if the site is reached over HTTPS."""
        return urlsplit(self.public_url).scheme == "https"

    def name(self, what: str) -> str:
        """Return the name of a cookie; two ledgers on one host have one each."""
        path = re.sub(r"[^A-Za-z0-9]+", "-", urlsplit(self.public_url).path).strip("-")
        return f"{'__Host-' if self.is_secure else ''}{what}{'.' if path else ''}{path}"

    def read(self, request: Request, what: str) -> str | None:
        """Return the browser's cookie of this name; None if it cannot be ours."""
        value = request.cookies.get(self.name(what))
        return value if value and len(value) <= MOST_COOKIE else None

    def put(self, response: Response, what: str, value: str) -> None:
        """Give a browser a cookie, which no script can read, and no other site can make it send with a form."""
        most = LONGEST_MS // 1000 if what == SESSION else None
        response.set_cookie(
            self.name(what), value, max_age=most, path="/", secure=self.is_secure, httponly=True, samesite="lax"
        )

    def take_away(self, response: Response, what: str) -> None:
        """Let a browser forget a cookie."""
        response.delete_cookie(self.name(what), path="/", secure=self.is_secure, httponly=True, samesite="lax")


def sign_in_fault(public_url: str, client: str | None) -> str | None:
    """Return why nobody may sign in from there; None if one may.

    Args:
        public_url: the address of the site.
        client: where the request comes from, as far as it is to be believed; None: from a socket of this machine.
    """
    parts = urlsplit(public_url)
    if parts.scheme == "https":
        return None
    if parts.scheme == "http" and _is_local(parts.hostname) and (client is None or _is_local(client)):
        return None
    return (
        "over plain HTTP anybody on the way reads what is typed: sign in on this machine, at its loopback address, or "
        "put a proxy with TLS before the server and name its address with --public-url https://..."
    )


def _is_local(host: str | None) -> bool:
    if host is None or host == "localhost":
        return host is not None
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


# -- where a form comes from ---------------------------------------------------------------------------------------


def origin_fault(public_url: str, headers: Mapping[str, str]) -> str | None:
    """Return why a form does not come from a page of the site, as the browser says; None if it does."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in {None, "same-origin"}:
        return f"this form was sent by a page of another site ({site}): open the page here, and send it from there"
    if origin is None:
        return "the browser does not say which page sent this form (no header Origin): it cannot be taken"
    if _origin(origin) not in _origins(public_url):
        return "this form was sent by a page of another address: open the page at the address of this site"
    return None


def _origins(public_url: str) -> set[tuple[str, str, int]]:
    """Return the origins of the site; on this machine its names are one."""
    own = _origin(public_url)
    if own is None:
        return set()
    scheme, host, port = own
    return {(scheme, name, port) for name in (_LOCAL_NAMES if scheme == "http" and _is_local(host) else (host,))}


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


@attrs.frozen(kw_only=True)
class Forms:
    """The tokens and words of a visit's forms.

    Attributes:
        word: of the session, or of the visit before there is one.
    """

    word: str

    def token(self, form: str) -> str:
        """Return the token of a form."""
        return form_token(self.word, form)

    def takes(self, form: str, token: str | None) -> bool:
        """Return whether it is the token of that form."""
        return token is not None and is_form_token(self.word, form, token)


def new_visit() -> str:
    """Return the word of a visit, which distinguishes our form of signing in from that of another site."""
    return secrets.token_urlsafe(32)


def new_once() -> str:
    """Return a word that distinguishes a form that is sent twice from two forms."""
    return secrets.token_hex(16)


# -- slowed down ---------------------------------------------------------------------------------------------------

WINDOW = 600.0  # seconds
MOST_WRONG = 60  # wrong tokens of all clients within the window; then answers are delayed
SLOWLY = 1.0  # seconds that an answer takes then, one after another


class WrongTokens:
    """The latest wrong tokens of all clients: many addresses that guess are slowed down, and none is locked out.

    How often one address may be refused ``middleware`` says.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; *clock* returns seconds."""
        self._clock = clock
        self._last: deque[float] = deque(maxlen=MOST_WRONG)

    def note(self) -> None:
        """There was one more."""
        self._last.append(self._clock())

    @property
    def are_many(self) -> bool:
        """True if answers are to be delayed."""
        return len(self._last) == MOST_WRONG and self._clock() - self._last[0] <= WINDOW
