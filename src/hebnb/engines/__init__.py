"""Lazy tables: counting and scoring where the rows are."""
