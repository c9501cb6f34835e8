"""``hebnb report``: what can be learned from a table, and how far to trust it, as one HTML page."""
