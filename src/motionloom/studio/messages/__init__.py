"""Messages between page and server."""
