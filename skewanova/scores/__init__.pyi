"""The public names, each once."""

from .design import infer_design as infer_design
from .table import Halvings as Halvings
from .scikit_learn import scores_from_skore as scores_from_skore
from .reading import MulticlassScores as MulticlassScores
from .reading import read_multiclass as read_multiclass
from .unlabelled import UnlabelledScores as UnlabelledScores
from .unlabelled import read_unlabelled as read_unlabelled
from .table import StreamedScores as StreamedScores
from .values import ValueTable as ValueTable
from .values import read_values as read_values
