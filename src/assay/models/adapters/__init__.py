"""Ways to attach a model that assay did not build: Hugging Face classifiers and PyTorch modules."""
