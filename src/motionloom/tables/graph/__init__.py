"""Motion graphs: the baseline that tables are compared with, and half of a hybrid path."""
