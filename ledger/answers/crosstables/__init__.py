"""Tournaments for readers: lists of tournaments, cross-tables, tie-breaks and performance ratings.

``editions`` groups the games of a name, ``event_games`` reads them and their ratings, ``pairing_systems`` finds how a
tournament was paired, its missing games and its matches, ``tie_breaks`` calculates the places, ``performances`` the
performance ratings, ``listing`` the list of tournaments. ``crosstable`` calculates the table as the data of
``crosstable_data``, from which ``formats`` makes every format without reading the database.
"""
