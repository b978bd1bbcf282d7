"""Sections of the report, one file per probe or topic."""
