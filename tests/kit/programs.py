"""A club to which programs send what they record, and the tokens of its people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx

from ledger.facts.events import Role
from ledger.ledger import Ledger
from tests.kit.served_processes import ask_server

GAME: Mapping[str, Any] = {
    "white": "Ann", "black": 2, "outcome": "white", "termination": "resignation", "half_moves": 60,
    "ended_at": "2026-03-01T12:00:00Z", "key": "club:1",
}  # fmt: skip
ROLES = {"rita": (Role.RECORDER,), "eve": (Role.CORRECTOR,), "otto": (Role.APPROVER,), "ada": (Role.AUDITOR,)}


@attrs.frozen
class Api:
    """A served club, and the tokens of its people, by name."""

    address: str
    tokens: Mapping[str, str]

    def ask(self, method: str, path: str, who: str | None = None, **more: Any) -> httpx.Response:
        headers = {
            **({} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}),
            **more.pop("headers", {}),
        }
        return ask_server(method, f"{self.address}/api/v1{path}", headers=headers, **more)

    def post(self, path: str, body: Any, who: str | None = "rita", **more: Any) -> httpx.Response:
        return self.ask("POST", path, who, json=body, **more)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()


def club_of_programs(path: Path, scheme: str = "chessworld") -> dict[str, str]:
    """Make a club of three players, and tokens."""
    with Ledger.create(path, scheme=scheme) as ledger:
        for name in ("Ann", "Bob", "Cleo"):
            ledger.register(f"name:{name.lower()}", name)
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        return {"adam": adam} | {name: ledger.tokens.add(name, roles, token=adam) for name, roles in ROLES.items()}
