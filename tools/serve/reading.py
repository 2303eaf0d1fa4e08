"""The process that answers: uvicorn over the socket that it was given, until SIGTERM."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Sequence

import uvicorn

from .readers import Reader, application
from .sites import Site

ENDS_WITHIN = 10  # seconds for what is being answered when the process is to end


def main(arguments: Sequence[str]) -> int:
    """Answer on a socket; the one argument is what ``processes`` says, as JSON."""
    handed = json.loads(arguments[0])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    reader = Reader(handed["path"], Site(public_url=handed["public_url"]))
    config = uvicorn.Config(
        application(reader),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        # Nobody else's word is taken for where a request comes from: uvicorn itself would trust this machine.
        proxy_headers=bool(handed["behind_proxy"]),
        forwarded_allow_ips=handed["behind_proxy"] or "",
        timeout_graceful_shutdown=ENDS_WITHIN,
    )
    with socket.socket(fileno=handed["socket"]) as listening:
        uvicorn.Server(config).run(sockets=[listening])
    reader.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
