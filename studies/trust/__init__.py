"""Can results be trusted? Fresh cases, judged by a check of its own from joint positions."""
