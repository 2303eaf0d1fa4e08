"""FIDE tournament report files (TRF16, TRF26): lines to records, records to pairings, pairings to games."""
