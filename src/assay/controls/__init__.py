"""Models whose answers are known, and what the verdict says of them."""
