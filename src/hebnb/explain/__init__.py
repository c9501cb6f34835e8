"""What a score is made of, and what a model knows about its features."""
