"""The class given the cell: evidence of columns and of crosses of columns, by counts shrunk level by level."""
