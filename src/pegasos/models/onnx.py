"""ONNX: our estimators as graphs, alone or at the end of a scikit-learn pipeline.

    scores   = X W + b                                        as ``decision_function``
    two classes        label = classes[scores > 0]
    one against rest   label = classes[argmax scores]
    one against one    votes + sums / (3 (|sums| + 1)), as in scikit-learn, in place of the scores
    a regression       variable = X w + b                     as ``predict``

The graph takes ``X`` in single precision and computes in it: scores agree with
``decision_function`` to about 1e-5 of their size, and a row whose score is that close to a tie may
get another label. ``register`` tells skl2onnx all this, so that its own ``to_onnx`` can convert
any pipeline that ends in such an estimator, and in double precision where X is declared so.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pegasos.estimators import LinearSVC, LinearSVR
from pegasos.estimators.multiclass import contests
from pegasos.models.checked import shortened
from pegasos.models.fitted import Model, coefficients, fitted

OPSET = 17  # of 2022: old enough for the runtimes in use
NOTE = (
    "the ONNX graph computes in single precision: scores agree to about 1e-5 of their size, and "
    "rows that close to a tie may get another label"
)


def write(model: Any, file: BinaryIO) -> tuple[str, ...]:
    """Put an estimator, or a pipeline that ends in one, into a file; notes of what changes."""
    last = fitted(model[-1] if isinstance(model, Pipeline) and len(model) else model, "ONNX")
    w, b = coefficients(last)
    limit = np.finfo(np.float32).max
    if max(np.abs(w).max(), np.abs(b).max()) > limit:
        raise ValueError(f"the model has coefficients beyond {limit:.3g}, the most of an ONNX file")
    notes: tuple[str, ...] = (NOTE,)
    if isinstance(last, LinearSVC):
        notes = (*_labels(last.classes_)[1], NOTE)
    file.write(_graph(model).SerializeToString())
    return notes


def _graph(model: Any) -> Any:
    register()
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    check_is_fitted(model)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(
            "this pipeline does not begin with a table of numbers: call "
            "pegasos.models.onnx.register() and convert it with skl2onnx.to_onnx, which can be "
            "told what it begins with"
        )
    types = [("X", FloatTensorType([None, model.n_features_in_]))]
    try:
        return to_onnx(model, initial_types=types, target_opset={"": OPSET, "ai.onnx.ml": 3})
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"skl2onnx cannot convert this pipeline ({shortened(str(error).strip())}): save its "
            "last step alone"
        ) from error


def register() -> None:
    """Tell skl2onnx how to convert LinearSVC and LinearSVR, also inside a pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skl2onnx import to_onnx
    >>> import pegasos.models.onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), pegasos.LinearSVC()).fit(X, y)
    >>> pegasos.models.onnx.register()
    >>> [output.name for output in to_onnx(model, X[:1]).graph.output]
    ['label', 'scores']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError("ONNX export needs skl2onnx: pip install 'pegasos[onnx]'") from None
    update_registered_converter(
        LinearSVC, "PegasosLinearSVC", _shape_classifier, _convert_classifier, parser=_parse
    )
    update_registered_converter(
        LinearSVR, "PegasosLinearSVR", _shape_regressor, _convert_regressor, parser=_parse
    )


def _labels(classes: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The classes as ONNX can hold them, and what was converted."""
    kind = classes.dtype.kind
    if kind in "UOb":
        return classes, ()
    values = classes.tolist()
    if not all(float(v).is_integer() and -(2**63) <= v < 2**63 for v in values):
        raise ValueError(
            f"an ONNX file has text or whole numbers as labels, and this model has "
            f"{shortened(values[0])}: fit it with the labels encoded"
        )
    notes = ("the labels are written as whole numbers",) if kind == "f" else ()
    return np.array([int(v) for v in values], dtype=np.int64), notes


def _parse(scope: Any, model: Model, inputs: list, custom_parsers: Any = None) -> list:
    """Name the outputs; their types follow from ``_shape_…``."""
    from skl2onnx.common.data_types import guess_tensor_type

    classifier = isinstance(model, LinearSVC)
    operator = scope.declare_local_operator(
        "PegasosLinearSVC" if classifier else "PegasosLinearSVR", model
    )
    operator.inputs = inputs
    for name in ("label", "scores") if classifier else ("variable",):
        found = scope.declare_local_variable(name, guess_tensor_type(inputs[0].type))
        operator.outputs.append(found)
    return list(operator.outputs)


def _real_type(operator: Any) -> Any:
    from skl2onnx.common.data_types import guess_tensor_type

    if len(operator.inputs) != 1:
        raise RuntimeError(f"one table of features is wanted, not {len(operator.inputs)}")
    return type(guess_tensor_type(operator.inputs[0].type))


def _shape_classifier(operator: Any) -> None:
    from skl2onnx.common import data_types

    rows = operator.inputs[0].get_first_dimension()
    classes, _ = _labels(operator.raw_operator.classes_)
    kinds = {"b": data_types.BooleanTensorType, "i": data_types.Int64TensorType}
    operator.outputs[0].type = kinds.get(classes.dtype.kind, data_types.StringTensorType)([rows])
    shape = [rows] if classes.size == 2 else [rows, classes.size]
    operator.outputs[1].type = _real_type(operator)(shape)


def _shape_regressor(operator: Any) -> None:
    operator.outputs[0].type = _real_type(operator)([operator.inputs[0].get_first_dimension()])


class _Nodes:
    """Appends nodes to a graph: each takes names and gives the name of what it computes."""

    def __init__(self, scope: Any, operator: Any, container: Any):
        from skl2onnx.common.data_types import DoubleTensorType

        self.scope, self.container = scope, container
        self.real = np.float64 if _real_type(operator) is DoubleTensorType else np.float32

    def constant(self, values: Any, dtype: Any = None) -> str:
        import onnx

        name = self.scope.get_unique_variable_name("pegasos_constant")
        tensor = onnx.numpy_helper.from_array(np.asarray(values, dtype=dtype or self.real), name)
        self.container.initializers.append(tensor)
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self.scope.get_unique_variable_name(f"pegasos_{kind.lower()}")
        name = self.scope.get_unique_operator_name(f"pegasos_{kind}")
        self.container.add_node(kind, list(inputs), output, name=name, **attributes)
        return output

    def cast(self, value: str, dtype: Any, output: str | None = None) -> str:
        import onnx

        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.node("Cast", value, to=kind, output=output)

    def scores(self, operator: Any) -> str:
        """X W + b for all binary problems."""
        w, b = coefficients(operator.raw_operator)
        X = self.cast(operator.inputs[0].full_name, self.real)
        return self.node("Add", self.node("MatMul", X, self.constant(w.T)), self.constant(b))


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    nodes = _Nodes(scope, operator, container)
    axis = nodes.constant([1], np.int64)
    nodes.node("Squeeze", nodes.scores(operator), axis, output=operator.outputs[0].full_name)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    nodes, model = _Nodes(scope, operator, container), operator.raw_operator
    label, scores = (output.full_name for output in operator.outputs)
    found = nodes.scores(operator)
    if model.classes_.size == 2:
        axis = nodes.constant([1], np.int64)
        nodes.node("Squeeze", found, axis, output=scores)
        code = nodes.cast(nodes.node("Greater", scores, nodes.constant(0.0)), np.int64)
    else:
        if model._scheme_of_fit == "ovo":
            found = _votes(nodes, found, model.classes_.size)
        nodes.node("Identity", found, output=scores)
        code = nodes.node("ArgMax", scores, axis=1, keepdims=0)
    classes, _ = _labels(model.classes_)
    held = classes.astype(object) if classes.dtype.kind == "U" else classes
    nodes.node("Gather", nodes.constant(held, held.dtype), code, output=label)


def _votes(nodes: _Nodes, scores: str, n_classes: int) -> str:
    """The contests that each class has won, ties broken by the sums of its scores."""
    pairs = contests(n_classes, "ovo")
    for_second, signs = np.zeros((2, len(pairs), n_classes))
    lost = np.zeros(n_classes)  # the votes of each class if every pair's first one won
    for k, (first, second) in enumerate(pairs):
        assert first is not None
        for_second[k, first], for_second[k, second] = -1.0, 1.0
        signs[k, first], signs[k, second] = -1.0, 1.0
        lost[first] += 1.0
    won = nodes.cast(nodes.node("Greater", scores, nodes.constant(0.0)), nodes.real)
    votes = nodes.node(
        "Add", nodes.node("MatMul", won, nodes.constant(for_second)), nodes.constant(lost)
    )
    sums = nodes.node("MatMul", scores, nodes.constant(signs))
    size = nodes.node("Add", nodes.node("Abs", sums), nodes.constant(1.0))
    thrice = nodes.node("Mul", size, nodes.constant(3.0))
    return nodes.node("Add", votes, nodes.node("Div", sums, thrice))
