"""Builders: from a sample without gold to the prompt that is sent."""
