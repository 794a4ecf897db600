"""Reading what others wrote: files opened with care, JSON and memory within limits."""
