"""From a table to codes: tables, columns, and the kinds of features that columns become."""
