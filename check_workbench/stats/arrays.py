"""What the statistics accept: finite scores, flags of the same length, shares between 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]


def floats(values: ArrayLike, name: str = "scores") -> Floats:
    """Return a one-dimensional array of finite numbers, or refuse.

    Raises
    ------
    InputError
        Naming the first place that is no finite number.

    Examples
    --------
    >>> floats([1, 2])
    array([1., 2.])
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from error
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got {array.ndim} dimensions.")
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise InputError(f"{name} must be finite: item {place} is {array[place]}. Leave such rows out and count them.")
    return array


def flags(values: ArrayLike, length: int, name: str = "positive") -> Flags:
    """Return an array of `length` truth values, or refuse.

    Raises
    ------
    InputError
        Where the length differs, or a value is neither 0 nor 1.

    Examples
    --------
    >>> flags([0, 1], 2)
    array([False,  True])
    """
    array = np.asarray(values)
    if array.shape != (length,):
        raise InputError(f"{name} must have one value per score: {length} scores, got shape {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must be true or false (1 or 0) throughout.")
    return array.astype(np.bool_)


def weighing(values: ArrayLike | None, length: int) -> Floats:
    """Return `length` weights above 0, all 1 where none are given, or refuse.

    Raises
    ------
    InputError
        Where the length differs, or a weight is not above 0.

    Examples
    --------
    >>> weighing(None, 2)
    array([1., 1.])
    """
    if values is None:
        return np.ones(length)
    array = floats(values, "weights")
    if len(array) != length:
        raise InputError(f"weights must have one value per score: {length} scores, got {len(array)}.")
    if not (array > 0).all():
        raise InputError(f"weights must be above 0, got {array.min():g}.")
    return array


def share(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1, or refuse.

    Raises
    ------
    InputError
        Where it is outside.

    Examples
    --------
    >>> share(0.1, "alpha")
    0.1
    """
    if not 0 < value < 1:
        raise InputError(f"{name} must lie between 0 and 1, both excluded; got {value}.")
    return float(value)


def counts(k: float, n: float, name: str = "k") -> None:
    """Refuse counts that cannot be: fewer than none, or more than there are.

    Raises
    ------
    InputError
        Unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise InputError(f"{name} must lie between 0 and n = {n}, got {k}.")
