"""Models that last: written to files that cannot execute anything, and read back.

One file for each format: ``native`` (all that an estimator holds), ``liblinear`` and ``svm_light``
(so that their programs serve our models, and ours theirs) and ``onnx`` (written alone).
"""

from __future__ import annotations

import importlib
import os
import stat
from pathlib import Path
from typing import Any, Literal

from pegasos.data import DataError
from pegasos.data.saving import saved_file

# Format: the module that writes it, and what it is called in a sentence.
FORMATS = {
    "pegasos": ("native", "pegasos"),
    "liblinear": ("liblinear", "LIBLINEAR"),
    "svm-light": ("svm_light", "SVM-light"),
    "onnx": ("onnx", "ONNX"),
}

# How files begin that are something else.
_OTHERS = (
    (b"svm_type", "it is a model of LIBSVM; those of LIBLINEAR and SVM-light can be read"),
    (b"PK\x03\x04", "it is a zip archive, such as NumPy's, and not a model"),
    (b"\x1f\x8b", "it is compressed by gzip: decompress it first"),
    *(
        (
            bytes([0x80, version]),
            "it is a pickle, which may execute anything when it is opened, and is not opened here; "
            "load it where you trust it, and save the model with pegasos.save_model",
        )
        for version in range(2, 6)
    ),
)


def save_model(
    model: Any,
    path: str | os.PathLike,
    *,
    format: str | None = None,
    force: bool = False,
    index_base: Literal[0, 1] | None = None,
) -> tuple[str, ...]:
    """Save a fitted estimator in one file, which is complete or absent.

    Parameters
    ----------
    model : LinearSVC or LinearSVR
        A fitted estimator; for ONNX also a pipeline that ends in one.
    path : path
        Where the file will be.
    format : {"pegasos", "liblinear", "svm-light", "onnx"}, default=None
        ``"pegasos"`` keeps everything: parameters, coefficients, classes of any type, names of
        features, certificates, traces, dual variables, and the streams of ``partial_fit``, which go
        on with the same bits. (Not ``checkpoint``, ``resume`` and ``on_event``, which belong to a
        session.) ``"liblinear"`` and ``"svm-light"`` are the models of those programs,
        and keep the coefficients to the last bit. ``"onnx"`` runs in single precision, and cannot
        be loaded again. None: ``"onnx"`` for a name that ends in .onnx, else ``"pegasos"``.
    force : bool, default=False
        Whether a file of this name may be replaced.
    index_base : {0, 1}, default=None
        From what the indices of the svmlight text counted that the model was trained on, for those
        who read such text for it: ``"pegasos"`` keeps it as ``index_base_`` of the loaded model.

    Returns
    -------
    notes : tuple of str
        What the format has no place for, and what was converted; empty for ``"pegasos"``.

    Raises
    ------
    ValueError
        If the format cannot hold the model. Nothing is written.
    DataError
        If the file exists already and ``force`` is not set, or cannot be written.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import LinearSVC, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/iris.model")
    ...     notes = save_model(model, f"{folder}/iris.liblinear", format="liblinear")
    ...     loaded = load_model(f"{folder}/iris.model")
    ()
    >>> notes
    ('a LIBLINEAR file holds no certificate, no parameters and no names of features',)
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    >>> loaded.certificate_ == model.certificate_
    True
    """
    if format is None:
        format = "onnx" if os.fspath(path).endswith(".onnx") else "pegasos"
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    kept = _index_base(index_base, format)
    module, name = FORMATS[format]
    writer = importlib.import_module(f"pegasos.models.{module}")
    if format != "onnx":
        from pegasos.models.fitted import fitted

        fitted(model, name)
    with saved_file(path, force) as file:
        return writer.write(model, file, **kept)


def _index_base(index_base: int | None, format: str) -> dict[str, int]:
    """The index base where it is given and can be kept."""
    if index_base is None:
        return {}
    if index_base not in (0, 1):
        raise ValueError(f"index_base must be 0 or 1, not {index_base!r}")
    if format != "pegasos":
        raise ValueError(
            f"a file of {FORMATS[format][1]} has no place for index_base: leave it out"
        )
    return {"index_base": int(index_base)}


def load_model(path: str | os.PathLike) -> Any:
    """Load an estimator from a file of pegasos, LIBLINEAR or SVM-light, told apart by content.

    The file may come from a stranger: nothing in it is executed, what it claims is checked before
    memory is set aside for it, and whatever is wrong is told in one sentence.

    Parameters
    ----------
    path : path
        A model file. (A model in ONNX is run by onnxruntime.)

    Returns
    -------
    model : LinearSVC or LinearSVR
        The fitted estimator. From a file of pegasos it gives the same bits, with its certificate,
        and goes on where it stood, by ``warm_start`` or ``partial_fit``; ``index_base_`` is there
        if it was saved. A file of LIBLINEAR or
        SVM-light holds the coefficients alone: ``certificate_`` says that nothing is proved, and
        parameters that are not in the file are those of a new estimator.

    Raises
    ------
    DataError
        If there is no such file, or it does not hold a model that can be trusted to work.

    See Also
    --------
    save_model : The way there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import load_model
    >>> header = ["solver_type L2R_LR", "nr_class 2", "label 7 3", "nr_feature 2", "bias -1", "w"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model")
    ...     _ = path.write_text("\\n".join([*header, "0.5", "-1"]))
    ...     model = load_model(path)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]])
    array([7, 3])
    >>> model.certificate_.how
    'read from a file of LIBLINEAR, L2R_LR: nothing is proved'
    """
    place = Path(path)
    from pegasos.models.checked import Wrong

    try:
        return _reader(place).read(place)
    except Wrong as error:
        raise DataError(f"{path}: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _reader(path: Path) -> Any:
    """The module that reads a file which begins like this one."""
    from pegasos.models import container, liblinear, native, svm_light
    from pegasos.models.checked import Wrong

    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise Wrong("it is a folder, and a model is one file")
    if not stat.S_ISREG(mode):
        raise Wrong("it is not a regular file")
    with open(path, "rb") as file:
        beginning = file.read(1024)
    if beginning.startswith(liblinear.BEGINNING):
        return liblinear
    if beginning.startswith(svm_light.BEGINNING):
        return svm_light
    if container.looks_like(beginning):
        return native
    raise Wrong(_what_else(beginning))


def _what_else(beginning: bytes) -> str:
    """What a file seems to be that is no model that can be loaded."""
    if not beginning:
        return "it is empty"
    for start, sentence in _OTHERS:
        if beginning.startswith(start):
            return sentence
    if beginning.startswith(b"\x08") and b"onnx" in beginning:
        return "it is an ONNX model, which is only written here: run it with onnxruntime"
    return "it is not a model of pegasos, LIBLINEAR or SVM-light"
