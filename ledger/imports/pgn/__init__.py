"""The PGN reader: lines, tags, clocks, movetext, and games out of them."""
