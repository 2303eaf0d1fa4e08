"""Games as they now stand: the roster of players, eras, runs, tournaments. Nothing is rated here."""
