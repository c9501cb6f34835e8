"""How much each part of a score counts."""
