"""Pictures, films and the self-contained page with a player."""
