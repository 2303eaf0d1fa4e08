"""Asks a server within the test, as over HTTP but without a network."""

import asyncio
from typing import Any

import httpx

from tests.kit.served_processes import Get
from tools.serve.application import application
from tools.serve.gate import Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving


def getting(reader: Reader) -> Get:
    """Return what asks for an address behind the prefix, or for a whole one."""

    def get(address: str, method: str = "GET", **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.request(method, address if "://" in address else f"/api/v1{address}", **more)

        # A loop for each question: what belongs to one is made anew.
        reader.take_turns()
        return asyncio.run(asked())

    app = Gate(application(reader), Serving(path=reader.path))
    return get
