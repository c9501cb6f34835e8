"""Fitted models as SQL."""

from hebnb.export.sql.query import to_sql

__all__ = ["to_sql"]
