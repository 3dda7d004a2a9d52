"""Where runs, decisions, answers and measurements are kept: one DuckDB file, or memory."""

from check_workbench.store.database import Store, open_store
from check_workbench.store.report import LoadReport

__all__ = ["LoadReport", "Store", "open_store"]
