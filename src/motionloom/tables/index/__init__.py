"""Index: windows compared by distance, clustered, indexed and looked up."""
