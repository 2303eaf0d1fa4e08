"""Attacks from outside on a ledger's files: each family as a generator, one judge of what the commands then do.

``histories`` makes ledgers and keeps what they were at several moments; a family (``families`` lists them) yields
attacks, each a name and an act that spoils the files of one copy; ``verdicts`` runs commands on that copy in
``workers`` and judges them by ``truth``, which reads the raw files by itself. ``fuzzing`` is about other people's
files and stands apart. Nothing here is used by the library or by another tool, and no ledger is attacked in place:
always a copy.
"""
