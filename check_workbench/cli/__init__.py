"""The command line: arguments in, text or one JSON document out, and an exit code that says what happened.

Exit codes: 0 done, 1 `validate` found errors, `gate` failed or `audit` alarms, 2 usage, 3 input or store cannot be
used, 4 the evaluator stopped answering, 10, 11 and 12 `trust` is not ready, 70 a bug, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from check_workbench.cli.arguments import parser
from check_workbench.cli.grammar import Usage, asked_for
from check_workbench.cli.screen import announce, ensure_streams, failed, show
from check_workbench.errors import EvaluatorError, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, INVALID, USAGE, INPUT, EVALUATOR, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv
        The arguments after the program's name; None takes those of the process.

    Examples
    --------
    >>> main(["plan", "--change", "enforce", "--max-false-fail", "2"])
    3
    """
    ensure_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    as_json, debug = asked_for(words, "--json"), asked_for(words, "--debug")
    try:
        return _run(words, as_json=as_json)
    except Usage as error:
        announce(error.usage)
        return failed(error, USAGE, as_json=as_json, debug=False)
    except KeyboardInterrupt as error:
        return failed(error, INTERRUPTED, as_json=as_json, debug=debug, message="interrupted")
    except EvaluatorError as error:
        return failed(error, EVALUATOR, as_json=as_json, debug=debug)
    except (WorkbenchError, OSError) as error:
        return failed(error, INPUT, as_json=as_json, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug ends with a message and 70
        message = f"this is a bug in check-workbench: {type(error).__name__}: {error} (--debug shows where)"
        return failed(error, BUG, as_json=as_json, debug=debug, message=message)


def _run(words: list[str], *, as_json: bool) -> int:
    arguments = parser().parse_args(words)
    outcome = arguments.run(arguments)
    show(outcome, as_json=as_json)
    return int(outcome.code)
