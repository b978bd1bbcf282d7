"""Corpora: readers, splits, vocabulary, batches and word vectors."""
