"""The process that answers: uvicorn over the socket that it was given, until SIGTERM."""

from __future__ import annotations

import signal
import socket
import sys
import tempfile
from collections.abc import Sequence

import uvicorn

from .desk_visits import Visits
from .readers import Reader, application
from .settings import Serving
from .sites import Site
from .wire import WriterClient

ENDS_WITHIN = 10  # seconds for what is being answered when the process is to end


def main(arguments: Sequence[str]) -> int:
    """Answer on a socket; the arguments are the settings as JSON, and the number of the open socket."""
    serving = Serving.of_json(arguments[0])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    reader = Reader(serving.path, Site.of(serving), shown=serving.log)
    config = uvicorn.Config(
        application(reader, _desk(reader, serving)),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        # Nobody else's word is taken for where a request comes from: uvicorn itself would trust this machine.
        proxy_headers=serving.behind_proxy is not None,
        forwarded_allow_ips=_trusted(serving.behind_proxy),
        timeout_graceful_shutdown=ENDS_WITHIN,
    )
    with socket.socket(fileno=int(arguments[1])) as listening:
        uvicorn.Server(config).run(sockets=[listening])
    reader.close()
    return 0


def _desk(reader: Reader, serving: Serving) -> Visits | None:
    """The desk, where there is somebody who writes."""
    if serving.folder is None:
        return None
    tempfile.tempdir = str(serving.folder)  # what is uploaded waits where nobody else may look
    return Visits(reader, WriterClient(serving.folder), serving.folder, serving.largest_upload << 20)


def _trusted(behind_proxy: str | None) -> str:
    """The proxies in uvicorn's words: what comes by a socket of the machine has no address."""
    words = [] if behind_proxy is None else behind_proxy.split(",")
    return "*" if "unix" in words else ",".join(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
