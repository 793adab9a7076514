"""The sentences of the library in the words of the shell: ``zero_based=True`` is --zero-based yes.

The one place that knows how the options of both are called by the other.
"""

from __future__ import annotations

import re

_END = r"(?=[\s,;:]|$)"  # of a name that is no part of a file's name

# What a sentence of the library says, and what a shell would type. The first ones are longer.
_WORDS: tuple[tuple[str, str], ...] = (
    # What has no option here.
    (r"; another sign is named with delimiter=…", ""),
    (r"; if (the labels are words|that is a word here), pass labels='words'", ""),
    (r" \(False: none\)", ""),
    (r", or leave categories out", ""),
    # Values.
    (r"\bnp\.\w+\(('[^']*'|\"[^\"]*\"|[^()]*)\)", r"\1"),
    (r"\bnp\.(True|False)_", r"\1"),
    (r"\bpass zero_based=True or zero_based=False", "say --zero-based yes or --zero-based no"),
    (r"\bpass zero_based=True", "say --zero-based yes"),
    (r"\bpass zero_based=False", "say --zero-based no"),
    (r"\bzero_based=True", "--zero-based yes"),
    (r"\bzero_based=False", "--zero-based no"),
    (r"\b(pass )?force=True( \(--force\))?", "--force"),
    (r"\bresume=True", "--resume"),
    (r"\bpenalize_intercept=True", "--bias feature"),
    (r"\bfit_intercept=False", "--bias none"),
    (r"\bfit_intercept=True", "--bias free"),
    (r"\bdtype='?(float\d+)'?", r"--dtype \1"),
    (r"\bmulti_class='(\w+)'", r"--multi-class \1"),
    (r"\bclass_weight='balanced'", "--class-weight balanced"),
    (r"\bn_features=(\d+)", r"--features \1"),
    (r"\bcategorical=(\[\]|…|\.\.\.)", "--categorical"),
    (r"\b(columns|target|weights)=(…|\.\.\.)", r"--\1"),
    # Names.
    (r"\bleave dtype out", "leave --dtype out"),
    (rf"(?<!\S)(class_weight|max_passes|max_seconds|multi_class|zero_based){_END}", r"--\1"),
    (rf"(?<!\S)n_jobs{_END}", "--jobs"),
    (rf"(?<!\S)n_features{_END}", "--features"),
    (r"^(tol|lam|epsilon) must", r"--\1 must"),
    (r"^C must", "-C must"),
    (r"\bwrite_store makes one", "pegasos convert makes one"),
    (r"(: )?pegasos\.data\.load reads it", ""),
)
_TABLE = [(re.compile(said), typed) for said, typed in _WORDS]
_UNDERSCORED = re.compile(r"(?<=--)[a-z]+_[a-z]+")


def for_shell(sentence: str) -> str:
    """A sentence that speaks of options of Python, with those of the command line instead."""
    for said, typed in _TABLE:
        sentence = said.sub(typed, sentence)
    return _UNDERSCORED.sub(lambda found: found[0].replace("_", "-"), sentence)
