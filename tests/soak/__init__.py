"""Long tests, which `make soak` runs; their files have names that the suite does not collect."""
