"""The CSV reader: header, rows, values, facts, and games out of them."""
