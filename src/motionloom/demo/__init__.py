"""The tour that ``motionloom demo`` gives: chapters made from embedded clips."""
