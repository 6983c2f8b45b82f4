"""Output contracts: the form of an answer, and the grammar that holds an engine to it."""
