"""Graded controls: hand-built models whose answer is known in degrees, and the error rates."""
