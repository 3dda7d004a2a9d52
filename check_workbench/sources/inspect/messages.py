"""Messages of an Inspect sample in the form in which `messages` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTACHMENT = "attachment://"


def resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """Put attachments in the place of the references to them; one that is not there stays a reference.

    Parameters
    ----------
    value
        Any decoded JSON.
    attachments
        Texts by their name.

    Examples
    --------
    >>> resolved({"content": ["attachment://a1"]}, {"a1": "A long text."})
    {'content': ['A long text.']}
    """
    if isinstance(value, str):
        return attachments.get(value.removeprefix(ATTACHMENT), value) if value.startswith(ATTACHMENT) else value
    if isinstance(value, dict):
        return {key: resolved(item, attachments) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    return value


def plain(message: Any) -> Any:
    """Bring a message into the common form of chat messages.

    The tool's name stands in `name`, an error is text, and thoughts stand beside the content, in `reasoning`.

    Parameters
    ----------
    message
        A message of a sample; what is no object stays as it is.

    Examples
    --------
    >>> plain({"role": "tool", "function": "ls", "content": "", "error": {"type": "timeout", "message": "Too slow."}})
    {'role': 'tool', 'content': '', 'error': 'timeout: Too slow.', 'name': 'ls'}
    """
    if not isinstance(message, dict):
        return message
    made = dict(message)
    if message.get("role") == "tool" and "function" in message:
        made["name"] = made.pop("function")
    if error := message.get("error"):
        made["error"] = complaint(error)
    content = message.get("content")
    if isinstance(content, list):
        made |= _divided(content)
    return made


def complaint(error: Any) -> str:
    """Return the text of a tool's error, its type in front."""
    if not isinstance(error, dict):
        return str(error)
    return ": ".join(str(error[key]) for key in ("type", "message") if error.get(key)) or "error"


def _divided(content: list[Any]) -> dict[str, Any]:
    thoughts = [part for part in content if isinstance(part, dict) and part.get("type") == "reasoning"]
    spoken = [part for part in content if part not in thoughts]
    found: dict[str, Any] = {"content": spoken}
    if thoughts:
        found["reasoning"] = thoughts
    if any(isinstance(part, dict) and part.get("citations") for part in spoken):
        found["parts"] = spoken
    return found
