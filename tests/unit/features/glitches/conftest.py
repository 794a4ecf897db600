"""The person of the intake tests."""

from tests.unit.intake.conftest import person

__all__ = ["person"]
