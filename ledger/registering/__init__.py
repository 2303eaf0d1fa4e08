"""Registering players: who joins, with which past, one by one or by a list. It asks the views and stands above them."""
