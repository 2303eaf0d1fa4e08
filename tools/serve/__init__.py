"""The server: answers over HTTP, of one ledger. Needs the extra ``server``; no other command imports it.

``processes`` keeps the others running: ``keeper`` brings the views level, ``readers`` answer. ``routes`` is the table
of what can be asked, ``questions`` asks the library, ``parameters`` and ``problems`` are what comes in and is refused.
"""
