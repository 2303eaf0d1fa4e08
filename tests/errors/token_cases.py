"""The error catalogue's cases about tokens: by name what is done in the club of two until the ledger refuses."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo


def _made(scene: ClubOfTwo, *roles: Role) -> str:
    return scene.ledger.tokens.add("eve", roles or (Role.CORRECTOR,))


def _shown(scene: ClubOfTwo, token: str | None, by: str | None = None) -> None:
    scene.ledger.tokens.authenticate(token, by, Role.APPROVER, "approve proposal 1")


def _revoked(scene: ClubOfTwo) -> None:
    token = _made(scene)
    scene.ledger.tokens.revoke("eve")
    _shown(scene, token)


def _none_shown(scene: ClubOfTwo) -> None:
    _made(scene)
    _shown(scene, None, "eve")


def _foreign(scene: ClubOfTwo) -> None:
    _made(scene)
    _shown(scene, "rlt_of-another-ledger")


def _expired(scene: ClubOfTwo) -> None:
    token = scene.ledger.tokens.add("eve", [Role.APPROVER], expires_at="2026-11-21")
    scene.clock.now += timedelta(days=1)
    _shown(scene, token)


def _file_of_another_ledger(scene: ClubOfTwo) -> None:
    with Ledger.create(scene.folder / "other.db", pool="rapid") as other:
        other.tokens.sign_in(other.tokens.add("eve", [Role.APPROVER]), "the bar")
    (scene.folder / "other.tokens.db").rename(scene.folder / "club.tokens.db")
    scene.ledger.tokens.log()


def _writable(scene: ClubOfTwo) -> None:
    scene.ledger.tokens.sign_in(scene.ledger.tokens.add("eve", [Role.APPROVER]), "the bar")
    (scene.folder / "club.tokens.db").chmod(0o666)
    scene.ledger.tokens.log()


TOKEN_REFUSALS: Mapping[str, Callable[[ClubOfTwo], object]] = {
    "needs-a-token": _none_shown,
    "unknown-token": _foreign,
    "unknown-token-none-set-up": lambda scene: _shown(scene, "rlt_of-another-ledger"),
    "revoked-token": _revoked,
    "expired-token": _expired,
    "not-this-role-reset": lambda scene: (_made(scene), scene.ledger.tokens.reset("eve")),
    "needs-a-token-to-issue": lambda scene: (_made(scene, Role.APPROVER), _made(scene)),
    "malformed-token-expiry": lambda scene: scene.ledger.tokens.add("eve", [Role.APPROVER], expires_at="2026-11-20"),
    "malformed-token-as-name": lambda scene: scene.ledger.tokens.add(f"rlt_{'a' * 43}", [Role.APPROVER]),
    "malformed-unseen-name": lambda scene: scene.ledger.tokens.add("e\u200bve", [Role.APPROVER]),
    "name-like-another": lambda scene: (_made(scene), scene.ledger.tokens.add("E ve", [Role.CORRECTOR])),
    "not-this-role": lambda scene: _shown(scene, _made(scene)),
    "not-this-name": lambda scene: _shown(scene, _made(scene, Role.APPROVER), "adam"),
    "storage-tokens-of-another-ledger": _file_of_another_ledger,
    "storage-tokens-writable": _writable,
    "unknown-name-token": lambda scene: (_made(scene), scene.ledger.tokens.revoke("adam")),
    "unknown-name-policy": lambda scene: scene.ledger.policies.at("upset", "2026"),
    "malformed-policy": lambda scene: scene.ledger.policies.set("upsets", {"margn": 1, "margin": -1}, actor="eve"),
}
