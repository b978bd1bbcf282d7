"""Statistics: rank correlation, divergences, intervals, keyed random numbers."""
