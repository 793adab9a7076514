"""Sentences of the library in the words of the shell."""

import numpy as np
import pytest

from pegasos.cli.spelling import for_shell

SENTENCES = {
    "if the indices count from 0, pass zero_based=True":
        "if the indices count from 0, say --zero-based yes",
    "pass zero_based=True or zero_based=False": "say --zero-based yes or --zero-based no",
    "x exists already; give another name, or force=True (--force) to replace it":
        "x exists already; give another name, or --force to replace it",
    "name it in categorical=… to one-hot or hash it, or leave it out of columns=…; prose":
        "name it in --categorical to one-hot or hash it, or leave it out of --columns; prose",
    "say with target=… which is predicted, of 'a', 'b' (False: none)":
        "say with --target which is predicted, of 'a', 'b'",
    "found 'x'; if the labels are words, pass labels='words'": "found 'x'",
    "read it with dtype='float64'": "read it with --dtype float64",
    "fields between commas; another sign is named with delimiter=…)": "fields between commas)",
    "with n_features=5 and indices": "with --features 5 and indices",
    "tol must be a number": "--tol must be a number",
    "raise max_passes or tol": "raise --max-passes or tol",
    f"class {np.float64(1.0)!r} or {np.str_('spam')!r}, not {np.True_!r}":
        "class 1.0 or 'spam', not True",
    "max_passes.svm:3:1: expected a label": "max_passes.svm:3:1: expected a label",
    "folder/n_jobs: there is no such file": "folder/n_jobs: there is no such file",
}  # fmt: skip


@pytest.mark.parametrize("said", SENTENCES)
def test_sentences(said):
    assert for_shell(said) == SENTENCES[said]


def test_on_the_way_out(pegasos, tmp_path):
    (tmp_path / "words.csv").write_text("town,y\na,1\nb,-1\n")
    pegasos("train", "words.csv", code=2)
    assert "name it in --categorical to one-hot" in pegasos.err
    (tmp_path / "zero.svm").write_text("1 0:1\n-1 1:1\n")
    pegasos("train", "zero.svm", "--zero-based", "no", code=2)
    assert "say --zero-based yes" in pegasos.err
    assert "True" not in pegasos.err
