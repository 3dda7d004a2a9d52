"""stub"""

from check_workbench.sources.format import Format

FORMAT = Format(name="chat", summary="", detect=lambda head: None, read=None)
