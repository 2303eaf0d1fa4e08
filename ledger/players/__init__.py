"""The players: the people file and its names, committed to by the journal; numbering, renaming, forgetting."""
