"""The one smoothing formula, what probabilities are shrunk towards, and how strongly."""
