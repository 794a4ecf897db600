"""Which windows of a label are arrived at, on a table written by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.table_places import TARGETS, LabelTargets

LENGTH = 4
STARTS = np.array([0, 20, 40])


class Collection:
    """Rows of labels; counts how often they are asked for."""

    def __init__(self, rows):
        self.rows, self.asked = rows, 0

    @property
    def labels(self):
        return tuple(SimpleNamespace(label=name, clip="no clip") for name in self.rows)

    def label_rows(self, label):
        self.asked += 1
        return np.array(self.rows[label])


def table_of(rows, *, fine=None, far=None, costs=None, unsound=()):
    ends = 3 if costs is None else len(costs)
    fine = np.zeros(40, dtype=np.uint16) if fine is None else fine
    far = np.ones(40, dtype=np.float16) if far is None else far
    arrays = SimpleNamespace(
        costs=np.zeros((ends, ends, 2)) if costs is None else costs,
        lookup=SimpleNamespace(fine=fine, fine_distance=far),
    )
    collection = Collection({"run": rows})
    collection.frames = SimpleNamespace(
        ids=["one", "two"], starts=STARTS, sound=lambda some, _: some[~np.isin(some, unsound)]
    )
    return arrays, collection, LENGTH


def targets(table, end=0):
    return LabelTargets(*table).of("run", end).tolist()


def test_the_nearest_window_of_a_representative_is_taken():
    far = np.ones(40, dtype=np.float16)
    far[9] = 0.25
    assert targets(table_of(range(8, 18), far=far)) == [9]


def test_of_equally_near_windows_the_first_is_taken():
    assert targets(table_of(range(8, 18))) == [5]


def test_windows_end_at_the_rows_and_stay_in_their_clip():
    assert targets(table_of([3])) == [0]
    assert targets(table_of([23])) == [20]
    assert targets(table_of([22, 30])) == [27]
    assert targets(table_of([10, 30], unsound=[7])) == [27]
    for rows in ([0, 1, 2], [20, 21, 22]):
        with pytest.raises(TableError, match="has 4 frames of its clip before it"):
            targets(table_of(rows))
    with pytest.raises(TableError, match="Label later frames"):
        targets(table_of([10], unsound=[7]))
    with pytest.raises(TableError, match="Label later frames"):
        targets(table_of([10], fine=np.full(40, NOWHERE, dtype=np.uint16)))


def test_representatives_come_in_the_order_of_what_it_costs_to_reach_them():
    fine = np.arange(40, dtype=np.uint16) % 8
    costs = np.zeros((8, 8, 2))
    costs[2, :, 0] = [5, 3, 9, 1, 4, 8, 2, 7]
    costs[..., 1] = -1.0
    rows = np.arange(8, 16) + LENGTH - 1
    found = targets(table_of(rows, fine=fine, costs=costs), end=2)
    assert found == [8 + 3, 8 + 6, 8 + 1, 8 + 4]
    assert len(found) == TARGETS
    some = targets(table_of(rows[:3], fine=fine, costs=costs), end=2)
    assert some == [8 + 1, 8 + 0, 8 + 2]


def test_a_label_is_looked_for_once_until_labels_change():
    table = table_of([10])
    of = LabelTargets(*table)
    collection = table[1]
    assert of.of("run", 0).tolist() == of.of("run", 1).tolist() == [7]
    assert collection.asked == 1
    of.check("run")
    assert collection.asked == 1
    collection.rows = {"run": [12], "walk": [30]}
    assert of.of("run", 0).tolist() == [9]
    assert of.of("walk", 0).tolist() == [27]
    assert collection.asked == 3


def test_targets_are_found_once_for_each_representative_that_they_are_reached_from():
    fine = np.arange(40, dtype=np.uint16) % 2
    costs = np.zeros((2, 2, 2))
    costs[0, :, 0], costs[1, :, 0] = [1, 2], [2, 1]
    table = table_of([10, 11], fine=fine, costs=costs)
    of = LabelTargets(*table)
    assert of.of("run", 0) is of.of("run", 0)
    assert of.of("run", 0).tolist() == [8, 7]
    assert of.of("run", 1).tolist() == [7, 8]
    assert not of.of("run", 1).flags.writeable
