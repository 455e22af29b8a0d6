"""Item pipelines: filter by topic, write the repository."""
