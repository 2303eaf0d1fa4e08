"""Published rating lists: publishing them, storing them, and warning of suspicious ones before that."""
