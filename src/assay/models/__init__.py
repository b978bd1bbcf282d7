"""Models with the three verbs `encode`, `attend` and `decode`."""
