"""Score tables, what they say of a row, and how that is put together."""
