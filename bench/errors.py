"""Which errors are messages for the user, and how a failed call to the operating system reads."""

from __future__ import annotations

import errno


def is_expected(error: Exception) -> bool:
    """Whether an error is one of ours: its message is meant for the user."""
    module = type(error).__module__.split(".", 1)[0]
    return module in {"bench", "tasks", "capsules"}


def describe_os_error(error: OSError) -> str:
    """One line for a failed call to the operating system."""
    if error.errno == errno.ENOSPC:
        where = f" at {error.filename}" if error.filename else ""
        return f"the disk is full{where}: make room and resume; nothing that was half written counts"
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
