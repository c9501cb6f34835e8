"""What a table is like, and what is odd about it, before anything is learned."""
