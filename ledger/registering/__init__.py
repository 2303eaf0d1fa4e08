"""The registration of players with their history, one by one or by a list. It reads the views and is above them."""
