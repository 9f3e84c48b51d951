"""The version of Dynascope."""

__version__ = "0.1.0"
