"""The client of a request: the address that it comes from, or that a trusted proxy names.

uvicorn's own reading of forwarded headers is not used: it trusts this machine by itself, knows no socket of the machine
but as "everybody", and then takes what the client itself wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import attrs

UNIX = "unix"  # the client that comes by a Unix socket, which has no address
_LONGEST = 60  # characters of an address with a port behind it
_NETWORK = 64  # bits of an IPv6 address that distinguish households; the rest is theirs to change

Address = IPv4Address | IPv6Address


@attrs.frozen
class Proxies:
    """The proxies whose word is taken.

    Attributes:
        networks: where they are.
        unix: whether every client of the Unix socket is one.
    """

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    unix: bool = False

    @classmethod
    def of(cls, words: str | None) -> Proxies:
        """Return the proxies that ``--behind-proxy`` names: addresses, networks and ``unix``, separated by commas."""
        named = [] if words is None else [word.strip() for word in words.split(",")]
        networks = tuple(ip_network(word, strict=False) for word in named if word != UNIX)
        return cls(networks, UNIX in named)

    def trusts(self, peer: str | None) -> bool:
        """Return whether the other end of a connection is a trusted proxy; *peer* is None on a Unix socket."""
        if peer is None:
            return self.unix
        address = address_of(peer)
        return address is not None and self._has(address)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self.networks)

    def origin(self, peer: str | None, forwarded: Iterable[bytes]) -> str | None:
        """Return the client on whose behalf a trusted proxy asks.

        Each proxy appends the address of its own client: what precedes the last one that is not
        trusted may have been made up.

        Args:
            peer: the other end of the connection, which is trusted.
            forwarded: the values of ``X-Forwarded-For``, in their order.
        """
        words = [word.strip() for value in forwarded for word in value.decode("latin-1").split(",")]
        origin = peer
        for word in reversed(words):
            address = address_of(word) if len(word) <= _LONGEST else None  # what is asked is kept
            if address is None:
                break
            origin = str(address)
            if not self._has(address):
                break
        return origin


@lru_cache(maxsize=4_096)
def address_of(word: str) -> Address | None:
    """Return the address that a word is, with a port behind it or none; None of what is no address."""
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        address = ip_address(word.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


@lru_cache(maxsize=4_096)
def counted_as(origin: str | None) -> str | None:
    """Return the name by which the requests of a client are counted: its address, of IPv6 its network.

    None of who is on this machine: a proxy that is not named looks so, too, and all the world behind it must not be
    taken for one client.
    """
    address = None if origin is None else address_of(origin)
    if address is None or address.is_loopback:
        return None
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _NETWORK), strict=False).network_address)
    return str(address)
