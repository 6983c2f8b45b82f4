"""Golden tests of builders: what they gave once, and the first place where they now give something else."""
