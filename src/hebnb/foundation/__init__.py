"""What every other part stands on: array types, memory, files, signals, text fit to be shown, JSON."""
