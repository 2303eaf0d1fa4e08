"""Tournaments as people see them: which there were, their tables, tie-breaks and performance ratings.

``editions`` says which games of a name belong together, ``event_games`` reads them and their ratings, ``tie_breaks``
works out who stands where, ``kinds`` how a tournament was paired, what is missing and who met in which match,
``performances`` what results were worth, ``listing`` which tournaments there were. ``crosstable`` puts the page
together; every format (``formats``) is made from the page alone and asks no database.
"""
