"""Pairings with results by rounds, as chess-results.com and Swiss-Manager list them: players, and teams' boards."""
