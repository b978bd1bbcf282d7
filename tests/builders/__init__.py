"""Builders that several tests share: small models, corpora, jobs and run directories."""
