"""Processes forked from one that has loaded the program: drivers of the kit that run to their end, and lasting ones.

Loading takes two seconds, the fork some hundredths of one: whoever kills processes at many places starts many.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from tempfile import TemporaryFile
from typing import Any, NamedTuple, NoReturn

from ledger.runtime.kernels import compile_kernel
from ledger.runtime.lazy import cattrs_gen, ed25519, filelock, np, pl
from ledger.schemes import find_scheme
from ledger.schemes.scheme import never_provisional
from tests.kit.places import ROOT
from tools import cli, commands

HANGS = 1_800  # seconds after which a process counts as hung, however busy the machine is
REQUEST = 1 << 16  # bytes of one, at most


def run_module(module: str, *words: object, largest_file: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``main()`` of a module as ``python -m module`` would in the checkout, to its end; its output as text.

    With *largest_file* no file that it writes may grow beyond so many bytes.
    """
    command = [module, *map(str, words)]
    with TemporaryFile() as out, TemporaryFile() as err:
        code = _ask([command, largest_file, False], [out.fileno(), err.fileno()])
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode())
    return subprocess.CompletedProcess(command, code, *said)


class LastingProcess(NamedTuple):
    """A process that goes on until the other end of its connection is closed."""

    number: int
    connection: Connection[Any, Any]


def start_module(module: str) -> LastingProcess:
    """Start ``main(connection)`` of a module, which talks with this process."""
    if sys.platform == "win32":
        raise NotImplementedError
    ours, theirs = Pipe()
    with theirs:
        return LastingProcess(_ask([[module], None, True], [theirs.fileno()]), ours)


def limit_files(largest_file: int) -> None:
    """Let no file that this process writes grow beyond so many bytes."""
    # half of a module that is compiled would be left to all that come after
    sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))


def _ask(request: object, files: Iterable[int]) -> int:
    server = _server()
    socket.send_fds(server, [json.dumps(request).encode()], [*files])
    return int(server.recv(REQUEST))


@cache
def _server() -> socket.socket:
    """The way to the process that forks; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", __name__, str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _load() -> None:
    """Load what commands load when they need it, and make the compiler ready; Polars' threads begin with its work."""
    for place in cli.COMMANDS.values():
        importlib.import_module(f"{commands.__name__}.{place.partition('.')[0]}")
    lazily = (cattrs_gen.override, ed25519.Ed25519PrivateKey, filelock.FileLock, np.ma.array, pl.DataFrame)
    assert all(map(callable, lazily))
    assert not compile_kernel(never_provisional)(np.zeros(1), find_scheme("elo").numbers_from({}))


def _serve(asking: socket.socket) -> None:
    _load()
    gc.freeze()
    lasting: list[int] = []
    while True:
        asked, files, *_ = socket.recv_fds(asking, REQUEST, 2)
        if not asked:
            break
        command, largest_file, is_lasting = json.loads(asked)
        main = importlib.import_module(command[0]).main
        child = os.fork()
        if not child:
            asking.close()
            sys.argv = command
            if is_lasting:
                _end_with(partial(main, Connection(files[0])))
            os.dup2(files[0], 1)
            os.dup2(files[1], 2)
            signal.alarm(HANGS)
            if largest_file is not None:
                limit_files(largest_file)
            _end_with(main)
        for file in files:
            os.close(file)
        if is_lasting:
            lasting.append(child)
            asking.send(str(child).encode())
        else:
            _, status = os.waitpid(child, 0)
            asking.send(str(os.waitstatus_to_exitcode(status)).encode())
        lasting = [number for number in lasting if _runs(number)]
    for number in lasting:
        os.kill(number, signal.SIGTERM)
        os.waitpid(number, 0)


def _runs(number: int) -> bool:
    """Return whether a lasting process still runs; one that has ended is forgotten by the system, too."""
    return os.waitpid(number, os.WNOHANG)[0] == 0


def _end_with(main: Callable[[], int | None]) -> NoReturn:
    """End this process as the interpreter would after ``sys.exit(main())``."""
    code = 1
    try:
        code = main() or 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # the process ends here whatever it was
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))


REFUSED = "was opened in the process that this one was forked from"


def in_child(act: Callable[[], object], meanwhile: Callable[[], object] = lambda: None) -> str:
    """Return what a forked child said of an act, which it began when the parent had done something else meanwhile."""
    (go, let_go), (said, say) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(let_go)
            os.read(go, 1)
            os.write(say, str(act()).encode())
        except BaseException as error:  # noqa: BLE001  # all is told to the parent
            os.write(say, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(say)
    meanwhile()
    os.close(let_go)
    os.waitpid(child, 0)
    with os.fdopen(said, "rb") as answer:
        os.close(go)
        return answer.read().decode()
