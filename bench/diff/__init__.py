"""How two capsules differ: every field, every span, every omission; in values and in words."""
