"""The rating graph: the data of a page, and each format that is drawn from it, one file each."""
