"""Find what a person reads in recorded messages: the request, the reply, the system prompt."""

from __future__ import annotations

from typing import Any

from check_workbench.sources.encoded import meant

ASKING = frozenset({"user", "human"})
REPLYING = frozenset({"assistant", "model", "ai"})
_RULING = frozenset({"system", "developer"})
_REQUESTS = ("prompt", "input", "question", "query", "task")
"""Keys under which frameworks keep the request itself."""


def spoken(value: Any, roles: frozenset[str]) -> Any:
    """Return the text of the last message with one of some roles; what holds no such message stays as it is.

    Examples
    --------
    >>> spoken('[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]', ASKING)
    'Hi'
    >>> spoken('{"prompt": "Write."}', ASKING), spoken({"order": 7}, ASKING)
    ('Write.', {'order': 7})
    """
    found = meant(value)
    if isinstance(found, dict) and roles is ASKING:
        plain = next((found[key] for key in _REQUESTS if isinstance(found.get(key), str)), None)
        if plain is not None:
            return plain
    texts = [text for message in _messages(found) if _role(message) in roles and (text := _text(message))]
    return texts[-1] if texts else value


def system_prompt(value: Any) -> str | None:
    """Return the text of the first system message, or of instructions that come by themselves.

    Examples
    --------
    >>> system_prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    'Be brief.'
    """
    found = meant(value)
    if isinstance(found, dict) and isinstance(found.get("config"), dict):
        return _text({"content": found["config"].get("system_instruction")})
    return next((text for message in _messages(found) if _role(message) in _RULING and (text := _text(message))), None)


def instructions(value: Any) -> str | None:
    """Return the text of system instructions, which are a text or parts of one."""
    return _text({"content": meant(value)})


def _messages(found: Any) -> list[dict[str, Any]]:
    """Find the messages in a list, a request or an answer of a model, of the forms that are common."""
    if isinstance(found, dict):
        found = _inside(found)
    return [_unwrapped(message) for message in found if isinstance(message, dict)] if isinstance(found, list) else []


def _inside(found: dict[str, Any]) -> list[Any]:
    for key in ("messages", "contents", "choices", "generations", "output"):
        listed = found.get(key)
        if isinstance(listed, list):
            nested = [one for one in listed if isinstance(one, list)]
            return nested[-1] if nested else listed
    return [found["content"] if isinstance(found.get("content"), dict) else found]


def _unwrapped(message: dict[str, Any]) -> dict[str, Any]:
    for key in ("message", "kwargs"):
        inner = message.get(key)
        if isinstance(inner, dict):
            message = inner
    return message


def _role(message: dict[str, Any]) -> str | None:
    role = message.get("role", message.get("type"))
    return role.lower() if isinstance(role, str) else None


def _text(message: dict[str, Any]) -> str | None:
    parts = message.get("parts", message.get("content", message.get("contents")))
    if isinstance(parts, str):
        return parts or None
    if isinstance(parts, dict):
        parts = parts.get("parts", [parts])
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if text) or None


def _part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    found = part.get("text", part.get("content"))
    return found if isinstance(found, str) else None
