"""Rotations and planar transforms: maths on arrays that knows no skeleton."""
