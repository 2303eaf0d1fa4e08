"""What is known of the club that the tests of the server serve."""

from __future__ import annotations

from collections.abc import Callable

import httpx

SITE = "https://ratings.example.org/club"
Get = Callable[..., httpx.Response]
REASON, OFFICER, OTHER_OFFICER = "a secret reason", "officer-eve", "officer-adam"
