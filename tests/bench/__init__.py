"""Tests of `assay.bench`."""
