"""The server: answers over HTTP, of one ledger. Needs the extra ``server``; no other command imports it.

``processes`` keeps the others running: ``writer`` records and catches the views up, ``readers`` answer, and they talk
over ``writer_socket``. ``routes`` is the table of all questions, ``get_handlers`` asks the library, ``parameters`` and
``problems`` check what comes in and say why it is refused.
"""
