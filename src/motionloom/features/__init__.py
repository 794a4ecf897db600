"""Motion to numbers per frame: foot plants, centre of mass, quality."""
