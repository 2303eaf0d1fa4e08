"""The way into the journal: events (``recorder``), games by names (``game_import``), new players, warnings."""
