"""``python -m hebnb`` is the command ``hebnb``."""

from hebnb.cli import main

if __name__ == "__main__":
    main()
