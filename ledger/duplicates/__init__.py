"""Is this game recorded already? Keys of games, probable duplicates, repeats of a report. Nothing is written."""
