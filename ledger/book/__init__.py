"""Games as corrected; the roster of players, scheme periods, rating periods, tournaments. Nothing is rated here."""
