"""Models as files that run nothing."""
