"""The classifiers. Each file says which cells are counted and what is learned from them."""
