"""What a run costs: token classes and engine time, times the prices that the config names."""
