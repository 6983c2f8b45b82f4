"""What stops a golden record or check."""

from __future__ import annotations


class GoldenError(Exception):
    """A golden file cannot be made, read or checked; the message names where, expected and found."""
