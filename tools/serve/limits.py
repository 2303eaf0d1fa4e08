"""How much may be asked: the sizes and times of a request, and how often one client may ask.

All limits for strangers are here, each with its reason. Those of connections, which are kept before
anything was understood, are used by ``connections``, the others by ``middleware``.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

KIB, MIB = 1024, 1024 * 1024

# -- one request ---------------------------------------------------------------------------------------------------

TARGET_BYTES = 8_000  # of an address with its query: RFC 9110 asks for as much at least
HEADER_BYTES = 16 * KIB
HEADER_FIELDS = 100
BODY_BYTES = MIB  # of what is no file
MOST_FAULTS = 100  # that are reported of a request; the others are not looked into
UPLOADS = ("/api/v1/imports", "/desk/import", "/desk/batch")  # where files come in, as large as the settings say
BATCH_BYTES = 16 * MIB  # of a file of corrections, which is read whole: it has room for all the rows that one may have

# -- time ----------------------------------------------------------------------------------------------------------

HEAD_WITHIN = 10.0  # seconds from the connection, or from the first byte of a further request, to its last header
BODY_GRACE = 20.0  # seconds that any body may take …
LEAST_RATE = 4 * KIB  # … and a second more for each so many bytes: an old modem had more
ANSWER_GRACE = 30.0  # seconds for an answer to leave, and a second more for each so many bytes, as well
WAIT = 30  # seconds at most that an answer waits for news
LINGER = 2.0  # seconds to let a client finish its words when it was answered before it had

# -- connections of one process ------------------------------------------------------------------------------------

CONNECTIONS = 16_000  # at once; fewer where the system allows fewer open files
SPARE_FILES = 200  # of what the system allows to be open, for the ledger itself
CONNECTIONS_OF_ONE = 200  # of one address that is neither of this machine nor a proxy's
TOGETHER = 64 * KIB  # that are written one after the other are sent in one go
WAITING_BYTES = 128 * MIB  # of answers that clients have not taken yet; above it the longest is cut off

# -- one client ----------------------------------------------------------------------------------------------------

CLIENTS = 16_384  # that are remembered, the latest ones; some 4 MiB
AT_ONCE = 50  # requests of one client, listening ones among them
BURST = 10.0  # seconds of its rate that a client may use up at once
WRITES = 4  # a request that writes counts as so many
FAILURES = 10  # refused credentials that a client may have at once …
FAILURE_EVERY = 12.0  # … and one more every so many seconds

# -- jobs ----------------------------------------------------------------------------------------------------------

JOBS_WAITING = 16  # of which one runs at a time
JOB_WITHIN = 2 * 3600.0  # seconds; the command itself has no limit
JOBS_KEPT = 16  # results
JOB_KEPT = 3600.0  # seconds for which a result is kept


class Buckets:
    """The budget of each client: it grows by a rate up to a maximum, which forgotten clients have."""

    def __init__(
        self, rate: float, most: float, clients: int = CLIENTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Let each client do *most* things at once and *rate* things a second, and remember so many clients."""
        self._rate, self._most, self._clients, self._clock = rate, most, clients, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, cost: float = 1.0) -> int:
        """Let a client do something of a cost; otherwise the seconds, at least 1, after which it may."""
        left, now = self._now(client)
        wait = 0 if left >= cost else ceil((cost - left) / self._rate)
        self._left[client] = (left if wait else left - cost, now)
        self._left.move_to_end(client)
        if len(self._left) > self._clients:
            self._left.popitem(last=False)
        return wait

    def wait(self, client: str, cost: float = 1.0) -> int:
        """Return the seconds after which a client may do something of a cost; 0: at once. It does not do it yet."""
        left, _ = self._now(client)
        return 0 if left >= cost else ceil((cost - left) / self._rate)

    def _now(self, client: str) -> tuple[float, float]:
        now = self._clock()
        left, since = self._left.get(client, (self._most, now))
        return min(self._most, left + (now - since) * self._rate), now

    def __len__(self) -> int:
        return len(self._left)
