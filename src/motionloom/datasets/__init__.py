"""Data sets: folders of thousands of clips checked and cleaned in parallel, with one summary."""
