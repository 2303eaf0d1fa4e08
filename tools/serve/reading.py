"""The process that answers: uvicorn, behind its limits, over the socket that it was given, until SIGTERM."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence

from .application import application
from .connections import ReadingServer
from .desk_requests import Visits
from .feed import Feed
from .middleware import Gate
from .parents import end_with
from .post_handlers import Posting
from .readers import Reader
from .settings import Serving
from .sites import Site
from .writer_socket import WriterClient

ENDS_WITHIN = 10  # seconds for what is being answered when the process is to end


def main(arguments: Sequence[str]) -> int:
    """Answer on a socket, until SIGTERM or the end of the parent.

    Args:
        arguments: the settings as JSON, the number of the open socket, that of the pipe which the parent holds.
    """
    end_with(int(arguments[2]), ENDS_WITHIN + 2)
    serving = Serving.of_json(arguments[0])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # with what is no form strangers could fill the log
    reader = Reader(serving.path, Site.of(serving))
    client = None if serving.folder is None else WriterClient(serving.folder)
    feed = Feed(reader, client)
    app = Gate(application(reader, *_recording(reader, client, serving), feed=feed), serving)
    server = ReadingServer(app, serving, ENDS_WITHIN, feed.end)
    with socket.socket(fileno=int(arguments[1])) as listening:
        server.run(sockets=[listening])
    reader.close()
    return 0


def _recording(reader: Reader, client: WriterClient | None, serving: Serving) -> Sequence[Visits | Posting]:
    """Return the desk and the endpoints of programs, if there is a writer."""
    if serving.folder is None or client is None:
        return ()
    tempfile.tempdir = str(serving.folder)  # uploads wait where no other user may look
    desk = Visits(reader, client, serving.folder, by_proxy=serving.person_header is not None)
    return desk, Posting(reader, client, serving.folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
