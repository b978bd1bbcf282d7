"""Tests of `assay.reproduction`."""
