"""Which errors are messages for the user, which may pass on their own, and how a failed system call reads.

Rule that this module owns: whether anything is tried again, or called resumable, is decided by the type of
the error, never by its text. ``PermanentError`` is the mark of what stays as it is.
"""

from __future__ import annotations

import errno


class PermanentError(Exception):
    """Nothing that passes by waiting or by starting again: a setting, a name, a file that is another one."""


def may_pass(error: BaseException) -> bool:
    """Whether the same may work later without anybody changing the run."""
    return not isinstance(error, PermanentError)


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
