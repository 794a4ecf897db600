"""Small tables in memory, and scores of plants, as studies make them.

Tests outside ``tests/studies`` take both from here; no other module of theirs reads ``studies``.
"""

from studies.measures.plant_score import PlantScore, score_footplants
from studies.memory_table import MemoryTable, table_in_memory

__all__ = ["MemoryTable", "PlantScore", "score_footplants", "table_in_memory"]
