"""Tests of `assay.papers`."""
