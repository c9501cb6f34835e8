"""The command ``hebnb``."""

from hebnb.cli.app import main

__all__ = ["main"]
