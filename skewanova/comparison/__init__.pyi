"""The public names, each once."""

from .diff import ComparisonDiff as ComparisonDiff
from .diff import changes as changes
from .monitoring import MonitorReport as MonitorReport
from .monitoring import monitor as monitor
from .values import ValuesComparison as ValuesComparison
