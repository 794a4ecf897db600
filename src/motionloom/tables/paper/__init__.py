"""The papers' own table: time alignment, Bezier weights, their sum of errors, their pose forms."""
