"""Mutants: do the tests notice small deliberate mistakes?"""
