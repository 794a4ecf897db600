"""Kernels as plain Python, for those that only other compiled kernels may call."""

import pytest


@pytest.fixture
def uncompiled(monkeypatch):
    """A function that puts the Python form of every kernel into modules, for one test."""

    def of(*modules):
        for module in modules:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    monkeypatch.setattr(module, name, value.py_func)

    return of
