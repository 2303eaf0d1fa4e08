"""The one way into the journal: events and frames of games, new players, warnings."""
