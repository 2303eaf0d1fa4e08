"""A witness of checkpoints: what it is sent, what of its answers is kept, and how little a bad one can do."""

import base64
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.audit.reader import VerifierKey, verify_checkpoint
from ledger.errors import MalformedError
from ledger.facts.words import TreeHead
from ledger.journal.signing_keys import read_key
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.proxies import certificate_in
from tests.kit.served_processes import Get, ask_server, serving, until
from tools.serve import settings, witnesses
from tools.serve.witnesses import Witness, WitnessError, Witnessing, WitnessKey, cosign

NAME, TIME = "witness.example.org/w1", 1_700_000_000
EMPTY = sha256(b"").digest()


class Keeper:
    """A witness of the test: the size and root that it cosigned last, its key, and how it behaves."""

    def __init__(self, log: VerifierKey) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(b"w" * 32)
        self.log, self.head, self.asked = log, TreeHead(0, EMPTY), list[str]()
        self.answer: Callable[[Any], None] | None = None

    @property
    def line(self) -> str:
        key = b"\x04" + self.key.public_key().public_bytes_raw()
        return f"{NAME}+{self.key_id.hex()}+{base64.b64encode(key).decode()}"

    @property
    def key_id(self) -> bytes:
        key = b"\x04" + self.key.public_key().public_bytes_raw()
        return sha256(NAME.encode() + b"\n" + key).digest()[:4]

    def cosignature(self, body: str, *, said: str = "cosignature/v1") -> str:
        text = body.partition("\n\n")[2].partition("\n\n")[0] + "\n"
        signature = self.key.sign(f"{said}\ntime {TIME}\n{text}".encode())
        return f"— {NAME} {base64.b64encode(self.key_id + TIME.to_bytes(8, 'big') + signature).decode()}\n"

    def judged(self, body: str) -> tuple[int, str, str]:
        """Status, media type and content, by C2SP tlog-witness."""
        self.asked.append(body)
        old = int(body.partition("\n")[0].removeprefix("old "))
        if old != self.head.size:
            return 409, "text/x.tlog.size", f"{self.head.size}\n"
        since = self.head if self.head.size else None
        whole = body if since else body.partition("\n\n")[2]
        signed = verify_checkpoint(whole.encode(), [self.log], since)  # the proof, and the signature of the log
        self.head = signed.head
        return 200, "text/plain", f"— somebody.else AAAAAAAA\n{self.cosignature(body)}"


@pytest.fixture(name="keeper")
def _keeper(served: Path) -> Keeper:
    return Keeper(VerifierKey.parse(read_key(served.with_name("club.key")).verifier))


@contextmanager
def listening(keeper: Keeper, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The witness at an address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            assert self.path == "/w1/add-checkpoint"
            if keeper.answer is not None:
                keeper.asked.append(body)
                keeper.answer(self)
                return
            tell(self, *keeper.judged(body))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who hangs up on it is right
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{server.server_address[1]}/w1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def tell(handler: Any, status: int, media: str, content: str, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": media, "Content-Length": str(len(content.encode())), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content.encode())


def grown(ledger: Ledger, key: str) -> None:
    ledger.append(game_recorded(key, half_moves=60))
    ledger.checkpoints.make()


def test_each_checkpoint_is_cosigned_with_the_proof_that_it_grew_out_of_the_last(served: Path, keeper: Keeper) -> None:
    with listening(keeper) as url, Ledger.open(served) as ledger:
        witness = Witness(url, WitnessKey.parse(keeper.line))
        for number in range(3):
            assert cosign(ledger, witness)
            last, shown = ledger.checkpoints.last(), ledger.checkpoints.shown()
            assert last is not None
            assert shown is not None
            assert shown.note == f"{last.note}{keeper.cosignature(keeper.asked[-1])}"
            assert shown.head == keeper.head == last.head
            assert not cosign(ledger, witness), "it is cosigned already"
            grown(ledger, f"new-{number}")
        assert [body.partition("\n")[0] for body in keeper.asked] == ["old 0", "old 922", "old 923"]
        newest, cosigned = ledger.checkpoints.shown(), ledger.checkpoints.cosigned()
        assert newest is not None
        assert cosigned is not None
        assert (newest.head.size, cosigned.head.size) == (925, 924)
        assert NAME not in newest.note


def test_the_page_that_says_how_to_check_us_follows_what_is_signed_without_an_entry(
    served: Path, keeper: Keeper, get: Get
) -> None:
    address = "http://server/check"
    first = get(address)
    with Ledger.open(served) as ledger:
        ledger.append(game_recorded("unsigned", half_moves=60))
        ledger.ensure_up_to_date()
        before = get(address)
        assert "A witness" not in before.text
        ledger.checkpoints.make()
        signed = get(address, headers={"If-None-Match": before.headers["etag"]})
        assert (signed.status_code, "(the journal has" in signed.text) == (200, False)
        with listening(keeper) as url:
            assert cosign(ledger, Witness(url, WitnessKey.parse(keeper.line)))
        seen = get(address, headers={"If-None-Match": signed.headers["etag"]})
        assert f"has seen the first {ledger.journal.size():,} entries" in seen.text
        assert get(address, headers={"If-None-Match": seen.headers["etag"]}).status_code == 304
    assert len({answer.headers["etag"] for answer in (first, before, signed, seen)}) == 4


def test_a_witness_that_saw_another_size_is_asked_once_more(served: Path, keeper: Keeper) -> None:
    with listening(keeper) as url, Ledger.open(served) as ledger:
        witness = Witness(url, WitnessKey.parse(keeper.line))
        assert cosign(ledger, witness)
        ledger.checkpoints.cosigned_file.unlink()
        grown(ledger, "new")
        assert cosign(ledger, witness)
        assert [body.partition("\n")[0] for body in keeper.asked] == ["old 0", "old 0", "old 922"]
        keeper.head = TreeHead(999, EMPTY)
        grown(ledger, "newer")
        with pytest.raises(WitnessError, match="has seen 999 entries of this log, and here are 924"):
            cosign(ledger, witness)


def refused(ledger: Ledger, url: str, keeper: Keeper, answer: Callable[[Any], None]) -> str:
    """Why nothing is kept of an answer."""
    keeper.answer = answer
    with pytest.raises(WitnessError) as error:
        cosign(ledger, Witness(url, WitnessKey.parse(keeper.line)))
    assert ledger.checkpoints.cosigned() is None
    return str(error.value)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (403, "takes no signature of this log's key"),
        (404, "does not know this log"),
        (422, "finds no proof"),
        (400, "malformed"),
        (500, "status 500"),
        (302, "leads elsewhere (status 302), where nobody follows"),
        (308, "leads elsewhere"),
    ],
)
def test_a_refusal_says_what_is_to_be_done_and_no_redirect_is_followed(
    status: int, why: str, served: Path, keeper: Keeper
) -> None:
    with listening(keeper) as url, Ledger.open(served) as ledger:
        told = refused(ledger, url, keeper, lambda it: tell(it, status, "text/plain", "\x1b[2J", Location=f"{url}/x"))
        assert len(keeper.asked) == 1
    assert why in told
    assert "\x1b" not in told


@pytest.mark.parametrize("kind", ["of another text", "of another key", "none", "cut off", "of another kind"])
def test_no_other_signature_is_kept(kind: str, served: Path, keeper: Keeper) -> None:
    other = Keeper(keeper.log)
    other.key = Ed25519PrivateKey.from_private_bytes(b"o" * 32)

    def answer(it: Any) -> None:
        right = keeper.cosignature(keeper.asked[-1])
        line = {
            "of another text": keeper.cosignature(keeper.asked[-1], said="cosignature/v2"),
            "of another key": other.cosignature(keeper.asked[-1]),
            "none": "thank you\n",
            "cut off": right[:60] + "\n",
            "of another kind": right.replace(" ", "  "),
        }[kind]
        tell(it, 200, "text/plain", line)

    with listening(keeper) as url, Ledger.open(served) as ledger:
        told = refused(ledger, url, keeper, answer)
    assert ("not of this checkpoint" in told) == (kind == "of another text")


@pytest.mark.parametrize(
    ("media", "content"),
    [("text/plain", "5\n"), ("text/x.tlog.size", "x\n"), ("text/x.tlog.size", "9" * 19), ("text/x.tlog.size", "7\n")],
)
def test_a_size_that_is_none_or_a_second_conflict_is_refused(
    media: str, content: str, served: Path, keeper: Keeper
) -> None:
    with listening(keeper) as url, Ledger.open(served) as ledger:
        told = refused(ledger, url, keeper, lambda it: tell(it, 409, media, content))
    assert "another size last" in told


def test_a_flood_is_read_no_further_than_a_bound(served: Path, keeper: Keeper) -> None:
    sent = [0]

    def flood(it: Any) -> None:
        it.send_response(200)
        it.end_headers()
        for _ in range(1_600):
            it.wfile.write(b"x" * 65_536)
            sent[0] += 65_536

    with listening(keeper) as url, Ledger.open(served) as ledger:
        assert "more than 65,536 bytes" in refused(ledger, url, keeper, flood)
    assert sent[0] < 50_000_000


def test_silence_and_a_byte_at_a_time_end(served: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "SILENCE", 0.5)
    monkeypatch.setattr(witnesses, "WITHIN", 1.0)

    sent = [0]

    def slow(it: Any) -> None:
        it.send_response(200)
        it.end_headers()
        for _ in range(100):
            it.wfile.write(b"x")
            sent[0] += 1
            time.sleep(0.1)

    with listening(keeper) as url, Ledger.open(served) as ledger:
        assert "nothing came within" in refused(ledger, url, keeper, lambda _: time.sleep(2))
        assert "answers" in refused(ledger, url, keeper, slow)
        assert 0 < sent[0] < 60, "it was not waited for until it had ended"
    with Ledger.open(served) as ledger:
        assert "cannot be asked" in refused(ledger, url, keeper, slow), "nobody listens there any more"


def test_its_certificate_is_verified(served: Path, keeper: Keeper, tmp_path: Path) -> None:
    certificate_in(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with listening(keeper, context) as url, Ledger.open(served) as ledger:
        with pytest.raises(WitnessError, match="its certificate is not taken: self-signed certificate"):
            cosign(ledger, Witness(url, WitnessKey.parse(keeper.line)))
        trusting = ssl.create_default_context(cafile=tmp_path / "certificate.pem")
        with pytest.raises(WitnessError, match="its certificate is not taken: IP address mismatch"):
            cosign(ledger, Witness(url, WitnessKey.parse(keeper.line), trusting))
    assert keeper.asked == []


def test_it_is_asked_no_more_often_than_hourly_and_a_fault_is_told_once(
    served: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(witnesses, "LOOK", 0.02)
    monkeypatch.setattr(witnesses, "EVERY", 0.4)
    keeper.answer = lambda it: tell(it, 404, "text/plain", "")
    opened: list[Ledger] = []

    def ledger() -> Ledger:
        if not opened:
            opened.append(Ledger.open(served))
        return opened[0]

    with listening(keeper) as url:
        running = Witnessing(Witness(url, WitnessKey.parse(keeper.line)), ledger, lambda: opened.pop().close())
        running.thread.start()
        time.sleep(1.0)
        assert 2 <= len(keeper.asked) <= 3
        keeper.answer = None
        until(lambda: keeper.head.size == 922)
        asked = len(keeper.asked)
        time.sleep(0.6)
        assert len(keeper.asked) == asked, "nothing grew"
        running.stop()
        running.thread.join(10)
        again = Witnessing(Witness(url, WitnessKey.parse(keeper.line)), ledger, lambda: opened.pop().close())
        monkeypatch.setattr(witnesses, "EVERY", 3_600.0)
        with Ledger.open(served) as other:
            grown(other, "new")
        again.thread.start()
        time.sleep(0.3)
        again.stop()
        again.thread.join(10)
        assert len(keeper.asked) == asked, "another start of the server asks no earlier"
    assert capsys.readouterr().err.count("does not know this log") == 1


@pytest.mark.slow
def test_the_server_shows_what_its_witness_signed(served: Path, keeper: Keeper) -> None:
    with listening(keeper) as url:
        words = ("--listen", "127.0.0.1:0", "--witness", url, "--witness-key", keeper.line)
        with serving(served, *words) as (_, address):
            until(lambda: NAME in ask_server("GET", f"{address}/checkpoint/cosigned").text)
            for place in ("checkpoint", "checkpoint/cosigned"):
                answer = ask_server("GET", f"{address}/{place}")
                assert answer.headers["content-type"] == "text/plain; charset=utf-8"
                assert answer.text.endswith(keeper.cosignature(keeper.asked[-1]))


def test_address_and_key_are_given_together_and_are_what_they_must_be(tmp_path: Path, keeper: Keeper) -> None:
    club = tmp_path / "club.db"
    with pytest.raises(MalformedError, match="witness and witness-key: give both"):
        settings.serving(club, {"witness": "https://witness.example"})
    told = settings.serving(club, {"witness": "https://witness.example", "witness_key": keeper.line})
    assert WitnessKey.parse(str(told.witness_key)).public == keeper.key.public_key().public_bytes_raw()
    club.with_suffix(".toml").write_text('[serve]\nwitness = "http://witness.example"\nwitness-key = "x"\n', "utf-8")
    with pytest.raises(MalformedError) as error:
        settings.serving(club, {})
    assert "witness: give one that begins with https://" in str(error.value)
    assert "witness-key: give the line of the witness, NAME+ID+KEY, got 'x'" in str(error.value)


@pytest.mark.parametrize("change", [("w1+", "w2+"), ("+B", "+A"), ("==", "")])
def test_a_key_that_is_no_witness_s_is_refused(change: tuple[str, str], keeper: Keeper) -> None:
    line = keeper.line if change[1] else keeper.line[:-6]
    with pytest.raises(ValueError, match="give the line of the witness"):
        WitnessKey.parse(line.replace(*change, 1))
