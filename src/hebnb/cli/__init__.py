"""The command ``hebnb``."""

from hebnb.foundation.signals import stopping_cleanly

__all__ = ["main"]


def main() -> None:
    """Run the command line; it can be stopped from here on, imports included."""
    with stopping_cleanly():
        from hebnb.cli.app import app

        app()
