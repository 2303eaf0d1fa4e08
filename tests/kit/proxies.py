"""nginx and Caddy before a server of a test: as the README of the server has them, on a free port of this machine."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.docs import readmes

PATIENCE = 30.0  # seconds for an answer
MOST_LOOKS = 600  # until a proxy answers
NAME = "ratings.example.org"
KINDS = ("nginx", "caddy")
PREFIXES = ("/club", "")
_NOBODY = 65534


@attrs.frozen
class Proxy:
    """A proxy that runs: at which port, at which it speaks plain HTTP, and whom its certificate is from."""

    kind: str
    prefix: str
    port: int
    plain: int
    certificate: Path

    @property
    def url(self) -> str:
        """What stands before all addresses."""
        return f"https://{NAME}:{self.port}{self.prefix}"

    def context(self) -> ssl.SSLContext:
        """TLS that trusts it."""
        return ssl.create_default_context(cafile=self.certificate)

    def said(self, words: bytes) -> bytes:
        """What it answers to these words, until it ends the connection."""
        with (
            socket.create_connection(("127.0.0.1", self.port), PATIENCE) as plain,
            self.context().wrap_socket(plain, server_hostname=NAME) as client,
        ):
            client.sendall(words)
            told = b""
            try:
                while more := client.recv(65_536):
                    told += more
            except (ssl.SSLEOFError, ConnectionResetError):
                pass
            return told


def example(kind: str) -> str:
    """The example for a proxy in the README of the server."""
    (block,) = readmes.blocks(readmes.texts()["tools/serve/README.md"], kind)
    return block


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def proxy(kind: str, prefix: str, place: Path, folder: Path, port: int) -> Iterator[Proxy]:
    """A proxy before the server at a socket, as another user where the test is run by root.

    Args:
        kind: nginx or caddy.
        prefix: before the addresses, such as ``/club``; empty at the root.
        place: the socket of the server.
        folder: of its own, which the other user may enter.
        port: where it answers.
    """
    program = shutil.which(kind, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip(f"no {kind} here (Debian: apt-get install {'nginx-light' if kind == 'nginx' else kind})")
    certificate = certificate_in(folder)
    plain = free_port()
    command = {"nginx": _nginx, "caddy": _caddy}[kind](program, prefix, place, folder, (port, plain))
    if os.geteuid() == 0:
        for each in (folder, *folder.rglob("*")):
            os.chown(each, _NOBODY, _NOBODY)
    as_other = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, **as_other)  # type: ignore[call-overload]
        try:
            _until_it_answers(process, port, folder / "log")
            yield Proxy(kind, prefix, port, plain, certificate)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def _nginx(program: str, prefix: str, place: Path, folder: Path, ports: tuple[int, int]) -> Sequence[str]:
    """Its command; what is changed of the example is where things are, and that it listens to this machine alone."""
    text = example("nginx")
    for before, after in (
        ("/run/rating-ledger/club.sock", str(place)),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{ports[0]} ssl http2;"),
        ("listen 80;", f"listen 127.0.0.1:{ports[1]};"),
        (f"/etc/ssl/certs/{NAME}.pem", str(folder / "certificate.pem")),
        (f"/etc/ssl/private/{NAME}.key", str(folder / "key.pem")),
    ):
        assert before in text
        text = text.replace(before, after)
    if not prefix:
        text = re.sub(r".*location = /club .*\n", "", text)
        text = text.replace("location /club/", "location /")
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{text}\n}}\n",
        "utf-8",
    )
    return [program, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def _caddy(program: str, prefix: str, place: Path, folder: Path, ports: tuple[int, int]) -> Sequence[str]:
    """Its command; beside the places it is changed to use a certificate of the test, and to have no door for orders."""
    text = example("caddy")
    for before, after in (
        ("/run/rating-ledger/club.sock", str(place)),
        (f"\nhttp://{NAME} {{", f"\nhttp://{NAME}:{ports[1]} {{\n    bind 127.0.0.1"),
        (f"\n{NAME} {{", f"\nhttps://{NAME}:{ports[0]} {{\n    bind 127.0.0.1\n    tls certificate.pem key.pem"),
        ("{\n    servers", "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n    servers"),
    ):
        assert before in text
        text = text.replace(before, after, 1)
    if not prefix:
        text = re.sub(r".*redir /club .*\n", "", text).replace("/club/", "/")
    (folder / "Caddyfile").write_text(text, "utf-8")
    return [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def certificate_in(folder: Path) -> Path:
    """A certificate that a key in a folder signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    certificate = folder / "certificate.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return certificate


def _until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(MOST_LOOKS):
        if process.poll() is not None:
            break
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text("utf-8", "replace"))
