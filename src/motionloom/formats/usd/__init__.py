"""Universal Scene Description: skeletons and their animation (UsdSkel)."""
