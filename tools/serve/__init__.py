"""The server: answers over HTTP, of one ledger. Needs the extra ``server``; no other command imports it.

``processes`` keeps the others running: ``writer`` records and brings the views level, ``readers`` answer, ``wire`` is
what they say to each other. ``routes`` is the table of what can be asked, ``questions`` asks the library,
``parameters`` and ``problems`` are what comes in and is refused.
"""
