"""Messages between a program and its worker processes, over the worker's standard input and output.

A message is a kind, plain values, and bytes as they are, such as rows of Arrow. A worker that fails says why in its
last message and ends. A worker ends when its input ends, since the program that started it has closed it or is gone.
This module imports little: a short statement costs what the start of its worker costs.
"""

from __future__ import annotations

import marshal
import signal
import struct
import sys
from typing import IO, Any, BinaryIO, NamedTuple

FAILED = "failed"  # the kind of the last message of a worker that fails; its value is the reason
_SIZES = struct.Struct(">qq")  # before each message: bytes of kind and value, bytes of the content


class Message(NamedTuple):
    """A message between a program and its worker: a kind, plain values, and bytes that are sent as they are."""

    kind: str
    value: Any
    content: bytes


def send(stream: IO[bytes], kind: str, value: Any = None, content: bytes | memoryview = b"") -> None:
    """Write one message to a stream."""
    # marshal and not pickle: it loads plain values alone, and its import costs nothing.
    words = marshal.dumps((kind, value))
    stream.write(_SIZES.pack(len(words), len(content)) + words)
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> Message:
    """Read the next message from a stream.

    Raises:
        EOFError: the stream ends before, or within, the message.
    """
    size, room = _SIZES.unpack(_exactly(stream, _SIZES.size))
    kind, value = marshal.loads(_exactly(stream, size))  # noqa: S302  # from our own process, by a pipe of these two
    return Message(kind, value, _exactly(stream, room))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def standard_streams(*, ignores_interruption: bool = True) -> tuple[BinaryIO, BinaryIO]:
    """Return input and output of this worker, which may ignore Ctrl-C: the program that started it ends it."""
    if ignores_interruption:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return sys.stdin.buffer, sys.stdout.buffer
