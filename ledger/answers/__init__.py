"""Answers to questions about players, games, rankings, rating lists and corrections, computed from the views.

Unless a function says otherwise, *ledger* is an open ledger whose views are up to date; *pool* is the name of a pool,
by default the first one; *at* is a day, month or year, and means its end; a *limit* of 0 or None means all rows. No
answer writes to the journal.
"""
