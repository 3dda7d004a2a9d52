"""One bound tested in each of the ways that there are."""

from __future__ import annotations

import numpy as np
import pytest

from check_workbench.certificates import bounds
from check_workbench.certificates.hygiene import Sample
from check_workbench.certificates.sides import Region
from check_workbench.certificates.tested import Look
from check_workbench.plans import Bound
from tests.certificates.draws import CHECK, rows, unlabelled


@pytest.mark.parametrize(
    ("fresh", "first", "way"), [(True, True, "own"), (False, True, "walk"), (True, False, "sequential")]
)
@pytest.mark.parametrize(("clusters", "ready"), [(19, False), (40, True)])
def test_whichever_way_labels_are_tested_they_come_from_twenty_clusters(fresh, first, way, clusters, ready):
    rng = np.random.default_rng(3)
    labels = rows(
        rng.random(6 * clusters) / 2, np.zeros(6 * clusters), cluster=np.arange(6 * clusters) % clusters, fresh=fresh
    )
    work = unlabelled(rng)
    sample = Sample(usable=labels, taken=labels.iloc[:0], population=work, excluded={})
    region = Region(check=CHECK, side="false_pass", reference=work, everything=work)
    bound = Bound(side="false_pass", target=0.3, delta=0.1)
    found = bounds.tested(region, bound, sample, Look(first=first, start=0.4))
    assert (found.way, found.certified) == (way, ready)
    assert found.too_few_clusters == (None if ready else clusters)
    assert ready or not found.changes
