"""What is derived from rated games: a file for each, with the class that keeps it (``ledger.ratings.projector``).

``history`` puts several together, for they stand in one row of one table.
"""
