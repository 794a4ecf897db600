"""The client's message types are those of the Python classes."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def generator() -> ModuleType:
    path = ROOT / "scripts" / "generate_messages.py"
    spec = importlib.util.spec_from_file_location("generate_messages", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_message_types_of_the_client_are_generated_from_the_python_classes() -> None:
    module = generator()
    written = module.TARGET.read_text(encoding="utf-8")
    assert written == module.generate(), "run python scripts/generate_messages.py"


def test_every_request_but_steps_has_an_answer() -> None:
    from motionloom.studio.messages import messages as m
    from motionloom.studio.messages import table_messages as t

    module = generator()
    without = {each for each in module._requests() if each.answer is None}
    assert without == {m.ControlStep, t.StreamStep}
