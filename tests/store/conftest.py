"""Fixtures for the tests of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def alone() -> Iterator[None]:
    """Load each file in a transaction of its own, the database reading our own lines, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SMALL_BYTES", "SMALL_OWN_BYTES"):
            patch.setattr(f"check_workbench.store.loading.{name}", -1)
        yield
