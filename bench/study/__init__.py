"""Studies: measurements over public data that need no engine and no run."""
