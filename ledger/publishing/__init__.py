"""Lists that were shown to the world: published, kept, and complained of before they are."""
