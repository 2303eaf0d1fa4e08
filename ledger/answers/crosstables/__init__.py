"""Tournaments as people see them: which there were, their tables, tie-breaks and performance ratings.

``editions`` groups the games of a name, ``event_games`` reads them and their ratings, ``tie_breaks`` calculates the
places, ``kinds`` finds how a tournament was paired, its missing games and its matches, ``performances`` the worth of
results, ``listing`` the tournaments. ``crosstable`` puts the page together; every format (``formats``) is made from
the page alone and reads no database.
"""
