"""The run time as games use it: in C, in C#, and from files."""
