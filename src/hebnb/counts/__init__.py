"""What is counted of encoded rows. Counts are frozen values that add."""
