"""What every answer says to browsers: what a page may load and run, who may frame it, what may be kept, by whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ..checker.content_policy import content_policy

_OWN = "'self'"


class AnswerKind(Enum):
    """The kind of an answer, by what browsers may do with it."""

    DATA = "data"
    PAGE = "page"
    EMBEDDED = "embedded"
    STATIC = "static"
    DESK = "desk"
    CHECKER = "checker"


def _policy(*, frames: str) -> str:
    rules = {
        "default-src": "'none'",
        "style-src": _OWN,
        "script-src": _OWN,
        "img-src": f"{_OWN} data:",
        "connect-src": _OWN,  # the moves of a game, when somebody copies or analyses them
        "form-action": _OWN,
        "base-uri": "'none'",
        "frame-ancestors": frames,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


# Whatever it is taken for, nothing in it runs: pictures have a style sheet, and no more.
_DATA_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox"
)
_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",  # ask each time: an unchanged answer costs nothing
}
_HEADERS: Mapping[AnswerKind, Mapping[str, str]] = {
    AnswerKind.DATA: {
        **_COMMON,
        "Content-Security-Policy": _DATA_POLICY,
    },
    AnswerKind.PAGE: {
        **_COMMON,
        "Content-Security-Policy": _policy(frames="'none'"),
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
    },
    AnswerKind.DESK: {
        **_COMMON,
        "Content-Security-Policy": _policy(frames="'none'"),
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",  # names, reasons and form tokens stay in no cache
    },
    AnswerKind.CHECKER: {
        **_COMMON,
        "Content-Security-Policy": f"{content_policy(script=_OWN, style=_OWN, connect=_OWN)}; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
    },
    AnswerKind.EMBEDDED: {**_COMMON, "Content-Security-Policy": _policy(frames="*")},
    AnswerKind.STATIC: {
        **_COMMON,
        "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "public, max-age=31536000, immutable",  # its address says which one it is
        "Vary": "Accept-Encoding",
    },
}


def headers(guard: AnswerKind, *, index: bool) -> dict[str, str]:
    """Return the headers of an answer.

    Args:
        guard: what kind of answer it is.
        index: whether search machines may keep it.
    """
    return {**_HEADERS[guard], **({} if index else {"X-Robots-Tag": "noindex"})}
