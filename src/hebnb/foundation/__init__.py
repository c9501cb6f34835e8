"""What every other part stands on: array types, memory, files, text fit to be shown, JSON."""
