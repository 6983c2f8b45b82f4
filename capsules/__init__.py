"""Digest-addressed, bounded model inputs and their independently verifiable evidence.

The package is a functional core: values and pure functions, bytes in, bytes out. Only
``__main__``, ``disk_store`` and ``os_fs`` touch the operating system.
"""
