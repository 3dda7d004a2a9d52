"""Rules and questions over tables that another engine holds, where one machine is not enough."""

from check_workbench.engines.connected import Connected
from check_workbench.engines.connecting import connect

__all__ = ["Connected", "connect"]
