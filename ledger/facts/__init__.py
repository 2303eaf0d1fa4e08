"""The vocabulary of the ledger: words, instants, periods, events, their canonical bytes and JSON schemas. No I/O."""
