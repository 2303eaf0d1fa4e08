"""The checker: a page on which anybody checks a published rating list in a browser, without installing anything."""
