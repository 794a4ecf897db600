"""Pictures of experiments."""
