"""Tables in files, read and written by DuckDB and PyArrow."""
