"""Plain numpy forms of the core's kernels, which the tests compare them with."""
