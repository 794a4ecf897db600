"""Tables: built, kept in one file, opened and asked for transitions."""
