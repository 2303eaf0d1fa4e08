"""Games as corrected, and the roster of players, scheme periods, rating periods, tournaments. Nothing is rated here."""
