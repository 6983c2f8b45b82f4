"""Engine adapters. Each heavy library is imported inside its own adapter file only."""
