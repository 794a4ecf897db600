"""Making: a recipe, or a gap, turned into frames with feet that stand."""
