"""What may be said: words, instants, periods, events, their canonical bytes and JSON schemas. No I/O."""
