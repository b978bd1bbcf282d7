"""Reproduction of the papers' tables and figures, compared with the published numbers."""
