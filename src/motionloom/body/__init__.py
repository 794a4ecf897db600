"""Body roles: which joint is which part of a body, its feet, knees, masses and facing."""
