"""Who is who: the people file and its names, sealed by the journal; numbering, renaming, forgetting. No rating here."""
