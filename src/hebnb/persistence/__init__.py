"""Models as files that run nothing."""

from hebnb.persistence.model_files import load, save

__all__ = ["load", "save"]
