"""Properties are checked for what they say, not for how fast a busy machine answers."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
