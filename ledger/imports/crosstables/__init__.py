"""Cross-tables of tournaments: rows of text to the header and players of a table, cells to rounds, rounds to games."""
