"""What may not stand in the library's sources: compiled code by any other way than ours."""

import io
import tokenize
from pathlib import Path

import pytest

import pegasos

HOME = Path(pegasos.__file__).parent
FORBIDDEN = ("njit", "jit(", "vectorize(", "prange", "parallel=True")


def code_of(path):
    """The code of a file without comments and documentation, blanks taken out."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    kept = [t.string for t in tokens if t.type not in (tokenize.COMMENT, tokenize.STRING)]
    return "".join(part.strip() for part in kept)


@pytest.mark.parametrize("word", FORBIDDEN)
def test_only_the_compiled_room_compiles_and_nothing_is_parallel(word):
    sources = sorted(HOME.rglob("*.py"))
    assert len(sources) > 20
    outside = [path for path in sources if path.parent.name != "compiled"]
    assert [path.name for path in outside if word in code_of(path)] == []


def test_nothing_in_the_compiled_room_is_parallel_either():
    for path in (HOME / "compiled").glob("*.py"):
        assert "prange" not in code_of(path)
        assert "parallel=True" not in code_of(path)


def test_the_stamp_covers_every_room_that_holds_kernels():
    from pegasos.compiled.kernel import COMPILED_ROOMS

    rooms = {
        path.relative_to(HOME).parts[0]
        for path in HOME.rglob("*.py")
        if any(f"@{way}\n" in path.read_text() for way in ("kernel", "inlined", "verb"))
    }
    assert "rows" in rooms
    assert rooms <= set(COMPILED_ROOMS)
