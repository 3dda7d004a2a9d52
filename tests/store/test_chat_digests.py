from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def test_arguments_compare_in_any_spelling(store: Store, tmp_path: Path) -> None:
    spelled = ['{"b": 1, "a": [1, 2]}', '{"a":[1,2],"b":1}', ' {\n"a": [1, 2], "b": 1}', '{"a": [2, 1], "b": 1}']
    calls = [{"id": str(i), "function": {"name": "f", "arguments": text}} for i, text in enumerate(spelled)]
    file = tmp_path / "chats.json"
    file.write_text(json.dumps([{"messages": [{"role": "assistant", "content": None, "tool_calls": calls}]}]))
    store.load(file)
    same = store.sql("select input_digest from spans where type = 'tool' order by seq")["input_digest"]
    assert same[0] == same[1] == same[2]
    assert same[3] != same[0]
