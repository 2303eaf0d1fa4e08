"""A worker process that calls functions of this program and gives their results, for ``process_executor``."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress

from ledger.runtime.worker_messages import FAILED, receive, send, standard_streams


def main(_: Sequence[str]) -> int:
    """Answer each message, a pickled call, with its pickled result or exception, until there are no more."""
    # Ctrl-C ends it: the caller may wait for its answer in a thread that no interruption reaches
    calls, answers = standard_streams(ignores_interruption=False)
    with suppress(EOFError, BrokenPipeError):  # the program that calls has closed the pipe, or is gone
        while True:
            kind, value = _called(receive(calls).content)
            send(answers, kind, content=value)
    return 0


def _called(call: bytes) -> tuple[str, bytes]:
    try:
        function, args, kwargs = pickle.loads(call)  # noqa: S301  # from the program that started this process
        return "result", pickle.dumps(function(*args, **kwargs), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  # the caller gets it
        with suppress(Exception):  # one that cannot be sent goes as its words
            return FAILED, pickle.dumps(error)
        return FAILED, pickle.dumps(RuntimeError(repr(error)))
