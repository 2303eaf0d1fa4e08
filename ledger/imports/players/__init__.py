"""Readers of lists of players: CSV of our own columns, and FIDE's downloadable lists as text and as XML."""
