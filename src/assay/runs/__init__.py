"""Everything about a run on disk: jobs, store, manifest, reading and orchestration."""
