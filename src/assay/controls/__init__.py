"""Control models with known answers, which test the verdict itself."""
