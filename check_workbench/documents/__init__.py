"""YAML 1.2 and JSON documents with the place of every value, and edits that change only what they must."""

from __future__ import annotations

from check_workbench.documents.edits import Edit, delete_key, edited, list_text, set_number
from check_workbench.documents.items import delete_item, set_word
from check_workbench.documents.numbers import canonical_json, decimal_text
from check_workbench.documents.text import LANGUAGES, LIMIT, Document, decode, parse, read_text
from check_workbench.documents.tree import (
    Entry,
    Flaw,
    FlawError,
    Mapping,
    Node,
    Path,
    Scalar,
    Sequence,
    plain,
    walk,
)

__all__ = [
    "LANGUAGES",
    "LIMIT",
    "Document",
    "Edit",
    "Entry",
    "Flaw",
    "FlawError",
    "Mapping",
    "Node",
    "Path",
    "Scalar",
    "Sequence",
    "canonical_json",
    "decimal_text",
    "decode",
    "delete_item",
    "delete_key",
    "edited",
    "list_text",
    "parse",
    "plain",
    "read_text",
    "set_number",
    "set_word",
    "walk",
]
