"""Tests of `assay.controls`."""
