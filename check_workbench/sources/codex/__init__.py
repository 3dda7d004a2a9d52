"""Codex sessions, and the events of `codex exec --json`."""
