"""What can be read only once is copied first: nothing of it is lost, and no copy stays."""

import gzip
import os
import tempfile
import threading

import numpy as np
import pytest

from pegasos.data import DataError, iter_load, kind_of, load, load_table
from pegasos.data.spooled import copies_kept, copy_of

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
ROWS = 20_000  # several times what is looked at
SVMLIGHT = "".join(f"{(-1) ** k} 1:{k} 3:0.5\n" for k in range(ROWS)).encode()
CSV = b"a,y\n" + b"".join(b"%d,1\n" % k for k in range(ROWS))


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """A named pipe, into which somebody writes once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def made(content):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    yield made
    assert not list(tmp_path.glob("pegasos-*"))  # no copy is left


@pytest.mark.parametrize("content", [SVMLIGHT, gzip.compress(SVMLIGHT), CSV])
@pytest.mark.parametrize("options", [{}, {"zero_based": False}])
def test_a_pipe_is_read_as_a_whole(pipe, content, options):
    if content is CSV and options:
        pytest.skip("no option of tables")
    data = load(pipe(content), **options)
    assert data.X.shape[0] == ROWS
    first = data.X.toarray()[:, 0] if hasattr(data.X, "toarray") else data.X[:, 0]
    assert (first == np.arange(ROWS)).all()


@pytest.mark.parametrize("content", [SVMLIGHT, CSV])
def test_a_pipe_in_chunks(pipe, content):
    chunks = list(iter_load(pipe(content), chunk_bytes=1 << 14))
    assert len(chunks) > 1
    assert sum(chunk.X.shape[0] for chunk in chunks) == ROWS


def test_chunks_that_nobody_wants(pipe):
    chunks = iter_load(pipe(SVMLIGHT))
    del chunks


def test_sentences_name_the_pipe(pipe):
    path = pipe(b"1 1:1\n1 2:1\n1 1:x\n")
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:3:5: ")


def test_within_a_block_there_is_one_copy(pipe):
    path = pipe(SVMLIGHT)
    with copies_kept():
        assert kind_of(path) == "svmlight"
        assert load(path).X.shape[0] == ROWS
        assert sum(chunk.X.shape[0] for chunk in iter_load(path)) == ROWS
        assert os.path.getsize(copy_of(str(path)).path) == len(SVMLIGHT)


@pytest.mark.parametrize("look", [kind_of, load_table])
def test_what_would_lose_the_beginning_refuses(pipe, look):
    path = pipe(b"")
    open(path, "rb").close()  # for whom the writer waits
    with pytest.raises(DataError, match=r"can be read only once: pegasos.data.load reads it"):
        look(path)


def test_devices():
    with pytest.raises(DataError, match="/dev/zero is a device: name a file, a pipe or a store"):
        load("/dev/zero")
    with pytest.raises(DataError, match="is empty"):
        load(os.devnull)


def test_a_full_disk_is_told(pipe, monkeypatch):
    path = pipe(SVMLIGHT)

    def full(source, target, length):
        source.read()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(DataError, match=r"pipe cannot be copied to .*: No space left"):
        load(path)
