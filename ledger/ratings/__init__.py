"""Games to ratings to rows: the engine, the projection, the views and the projectors."""
