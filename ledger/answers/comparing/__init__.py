"""Rating schemes compared over the same games: how well each foresees results, and how their lists differ."""
