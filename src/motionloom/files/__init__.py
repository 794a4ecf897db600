"""Files of others read within limits; our own written whole, and locked while they are."""
