"""Closed forms: how far attention can move while the prediction stays, and what erasure changes."""
