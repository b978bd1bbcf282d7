"""Statistics: rank correlation, divergences, ranking metrics, intervals, keyed random numbers."""
