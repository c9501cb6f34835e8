"""Parts of columns as columns of their own: months and weekdays of dates, words of free text."""

from hebnb.parts.column_parts import ColumnParts

__all__ = ["ColumnParts"]
