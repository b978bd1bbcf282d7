"""Training: recipes, objectives, the loop, and specifications of further trainings."""
