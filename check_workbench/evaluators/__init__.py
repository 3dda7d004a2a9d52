"""Whatever can answer typed questions about recorded work."""

from check_workbench.evaluators.made import Made
from check_workbench.evaluators.protocol import Capabilities, Evaluator, Request
from check_workbench.evaluators.recorded import Recorded
from check_workbench.evaluators.settings import open_evaluator

__all__ = ["Capabilities", "Evaluator", "Made", "Recorded", "Request", "open_evaluator"]
