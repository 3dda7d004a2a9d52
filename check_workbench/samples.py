"""Where the sample data lies: inside an installed wheel, or beside the package in a checkout."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from check_workbench.errors import InputError


def sample_data() -> Path:
    """Return the folder of the sample data.

    Returns
    -------
    Path
        A folder with `refunds/` and `vendors/`.

    Raises
    ------
    InputError
        If the installation holds no sample data.

    Examples
    --------
    >>> (sample_data() / "refunds" / "runs.jsonl").is_file()
    True
    """
    package = Path(str(resources.files("check_workbench")))
    places = (package / "_data", package.parent / "data")
    for place in places:
        if (place / "refunds" / "runs.jsonl").is_file():
            return place
    raise InputError(
        f"the sample data is missing: neither {places[0]} nor {places[1]} holds refunds/runs.jsonl. "
        "Install the package again, from its wheel or from a whole checkout.",
    )
