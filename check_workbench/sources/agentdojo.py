"""stub"""

from check_workbench.sources.format import Format

FORMAT = Format(name="agentdojo", summary="", detect=lambda head: None, read=None)
