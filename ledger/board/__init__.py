"""A chess board: squares, positions, moves in algebraic notation, games played through to their last position."""
