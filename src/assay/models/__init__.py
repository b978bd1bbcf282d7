"""The models that assay builds, and the interface that any audited model offers."""
