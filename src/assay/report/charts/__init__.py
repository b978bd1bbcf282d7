"""Charts of the report and of the reproduction pages."""
