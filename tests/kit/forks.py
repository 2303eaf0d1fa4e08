"""What a forked child of a test does, and what it said of it."""

from __future__ import annotations

import os
from collections.abc import Callable

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
