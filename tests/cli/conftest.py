"""The folder that commands run in."""

from command_runs import folder  # noqa: F401
