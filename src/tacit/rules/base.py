"""What all models of rules share: X as columns of numbers, how they look, and files."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit import store
from tacit.errors import InputError
from tacit.estimator import Estimator
from tacit.listing import Listed, Listing
from tacit.machine import count_jobs
from tacit.parameters import earlier_parameters, plain_parameters, rename_parameters
from tacit.rules.columns.coding import code_columns
from tacit.rules.columns.features import RuleFeatures
from tacit.rules.scaling import refuse_large
from tacit.table.inputs import Inputs
from tacit.table.schema_json import write_json
from tacit.table.targets import require_target

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tacit.rules.columns.coding import CodedColumns
    from tacit.table.number_columns import NumberColumns
    from tacit.table.targets import Targets

__all__ = ["RuleModel", "Training"]

_RENAMED = {  # parameters of files of version 0.1
    "feature_share": "feature_fraction",
    "heuristic": "criterion",
    "patience": "n_iter_no_change",
    "predominant": "defaults",
    "prune_share": "prune_fraction",
    "sample_share": "sample_fraction",
    "search": "algorithm",
    "validation_share": "validation_fraction",
}


class Training(NamedTuple):
    """What a model learns from: columns, target and weights of records."""

    numbers: NumberColumns
    columns: CodedColumns
    targets: Targets
    weights: NDArray[np.float64] | None


class RuleModel(Listed, Estimator):
    """A model whose rules are about the columns of X."""

    _input_tags = ("allow_nan", "categorical", "sparse", "string")

    rules_: Any
    defaults: Any
    kinds: Any
    n_jobs: int | None
    _features: RuleFeatures
    _target_name: str | None

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are rules."""
        return hasattr(self, "rules_")

    # Records

    @abstractmethod
    def _read_target(self, y: Any, n_records: int) -> Targets:
        """Return the target as rows of outputs."""

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, bins: tuple[str, int] | None = None
    ) -> Training:
        """Read what fit is given, and note the columns and the target's name."""
        require_target(self, y)
        inputs = Inputs.fit(self, X, y, sample_weight, kinds=self.kinds, drop=True)
        refuse_large(inputs.weights)
        numbers = inputs.numbers()
        self._features = RuleFeatures(inputs.remembered)
        jobs = count_jobs(self.n_jobs)
        coded = code_columns(self._features, numbers, self.defaults, bins, jobs)
        self._target_name, y = inputs.target_name, inputs.y
        if inputs.target is not None:
            y = inputs.data.select([inputs.target]).to_frame("polars")[inputs.target_name]
            targets = self._read_target(y, inputs.n_records)
        else:
            targets = self._read_target(y, inputs.n_given)
            targets = targets if inputs.kept is None else targets.take(inputs.kept)
        return Training(numbers, coded, targets, inputs.weights)

    def _read_columns(self, X: Any) -> NumberColumns:
        """Return the columns of records to predict."""
        check_is_fitted(self)
        inputs = Inputs.read(self, X, self._features.spec, target_name=self._target_name)
        return inputs.numbers()

    # What it looks like

    def to_text(self, top: int | None = None) -> str:
        """Return the rules as text, one a line.

        Parameters
        ----------
        top : int, optional
            How many of the first; all unless given. The last is always there.
        """
        check_is_fitted(self)
        return str(self.rules_.to_text(top))

    def to_frame(self) -> pl.DataFrame:
        """Return the rules as a Polars frame, as ``rules_.to_frame()`` does."""
        check_is_fitted(self)
        frame: pl.DataFrame = self.rules_.to_frame()
        return frame

    def _listing(self, top: int | None) -> Listing:
        check_is_fitted(self)
        listing: Listing = self.rules_._listing(top)
        return listing

    def _html_of_fit(self) -> str:
        return self.to_html(20)

    # Files

    @abstractmethod
    def _check_parameters(self) -> Any:
        """Refuse parameters that no data could make right."""

    @abstractmethod
    def _learnt(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what is known besides rules and columns: facts for JSON, and arrays."""

    @abstractmethod
    def _restore(self, facts: dict[str, Any], state: store.State) -> None:
        """Take what :meth:`_learnt` returned, and the rules, from a file."""

    def to_state(self) -> store.State:
        """Return the named arrays that a file holds.

        Parameters that JSON cannot hold, such as generators of random numbers, are not kept, nor
        are defaults of single columns: predictions do not depend on them.
        """
        parameters = plain_parameters(self)
        if isinstance(parameters.get("defaults"), list):
            del parameters["defaults"]
        facts, arrays = self._learnt()
        facts |= {"parameters": parameters, "target": self._target_name}
        return {
            **self.rules_.arrays.to_dict(),
            **arrays,
            "features": np.frombuffer(self._features.to_json(), np.uint8),
            "settings": np.frombuffer(write_json(facts), np.uint8),
        }

    @classmethod
    def from_state(cls, state: store.State) -> Self:
        """Make the model that :meth:`to_state` described.

        Parameters
        ----------
        state : mapping of str to ndarray
        """
        facts = store.read_json(state["settings"])
        parameters = rename_parameters(earlier_parameters(facts["parameters"]), _RENAMED)
        model = cls(**parameters)
        model._check_parameters()
        model._features = RuleFeatures.from_json(state["features"].tobytes())
        model._features.spec.note(model)
        model._target_name = facts["target"]
        if not isinstance(model._target_name, str | None):
            raise InputError("its target has no name that could be one")
        model._restore(facts, state)
        rules = model.rules_.arrays
        model._features.check_numbers(rules.columns, rules.thresholds)
        return model
