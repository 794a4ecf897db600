"""Room 3: quick transitions between any frames of a collection (Ikemoto, Arikan & Forsyth)."""
