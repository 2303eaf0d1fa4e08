"""What is known of the club that the tests of the server serve."""

from collections.abc import Callable

import httpx

SITE = "https://ratings.example.org/club"
Get = Callable[..., httpx.Response]
REASON, OFFICER, OTHER_OFFICER = "a secret reason", "officer-eve", "officer-adam"

EVIL_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'; DROP TABLE people; -- {{ 7*7 }} {% raise %}",
    "\u202egnp.exe\u2066 \u200babc",
    "\u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "Wolfeschlegelsteinhausenbergerdorff" * 3,
)
EVIL_TOURNAMENTS = ("Cup 2023/24", '<b>Cup</b> & "more"', "..", "a?b#c%2F", "x/../../y", "Open")
