"""Where two conversations differ, as paths: for tests of what a shape may lose and must say it lost."""

from typing import Any

from formats.conversation import at, to_json
from formats.types import Conversation

ASKED = ("content", "tool_calls", "documents", "tools")
ORDERED = ("tools", "arguments")  # a template writes the keys of these objects in their order


def differences(before: Conversation, after: Conversation) -> list[str]:
    """The innermost paths at which two conversations are not the same."""
    return list(_differences(_whole(before), _whole(after), "", False))


def _whole(conversation: Conversation) -> Any:
    value = to_json(conversation)
    value["options"].setdefault("kwargs", {})
    return value


def _differences(a: Any, b: Any, path: str, ordered: bool) -> Any:
    if type(a) is not type(b):
        yield path
    elif isinstance(a, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            here = at(path, key)
            if (key in a) != (key in b):  # a key without a value holds nothing, but for those that templates ask for
                if key in ASKED or (a if key in a else b)[key] not in (None, [], {}):
                    yield here
            else:
                yield from _differences(a[key], b[key], here, ordered or key in ORDERED)
        if ordered and a.keys() == b.keys() and list(a) != list(b):
            yield path
    elif isinstance(a, list):
        for index in range(max(len(a), len(b))):
            here = f"{path}[{index}]"
            if index >= min(len(a), len(b)):
                yield here
            else:
                yield from _differences(a[index], b[index], here, ordered)
    elif a != b:
        yield path


def unreported(paths: list[str], lost: list[str]) -> list[str]:
    """The paths that no reported path is equal to or above."""
    return [
        path for path in paths if not any(path == loss or path.startswith((f"{loss}.", f"{loss}[")) for loss in lost)
    ]
