"""The clips that a page may open, made ready to be drawn."""
