"""Files opened by what they hold, and what is said about those that cannot be."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys

import pytest
import zstandard

from pegasos.data import DataError
from pegasos.data.opened import open_binary, packing_of

TEXT = b"1 1:0.5 2:3\n" * 20_000
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
PACKED = {"": TEXT} | {name: pack(TEXT) for name, pack in PACKERS.items()}


class Stream:
    """A source that gives a few bytes at a time and can do nothing but read."""

    def __init__(self, content):
        self._left = io.BytesIO(content)

    def read(self, size):
        return self._left.read(min(size, 1000))


@pytest.mark.parametrize("packing", PACKED)
def test_what_is_packed_is_seen_from_the_content(packing, tmp_path):
    path = tmp_path / "named.gz"  # whatever the name says
    path.write_bytes(PACKED[packing])
    for source in (path, str(path), io.BytesIO(PACKED[packing]), Stream(PACKED[packing])):
        with open_binary(source) as file:
            assert file.packing == packing
            assert file.read(5) == TEXT[:5]
            assert file.readline() == TEXT[5:12]
            assert file.read() == TEXT[12:]
            assert file.read() == b""


@pytest.mark.parametrize("packing", PACKED)
def test_an_open_file_is_read_from_where_it_stands_and_left_open(packing, tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"xyz" + PACKED[packing])
    with open(path, "rb") as source:
        source.seek(3)
        with open_binary(source) as file:
            assert file.name == str(path)
            assert file.read() == TEXT
        assert not source.closed


@pytest.mark.parametrize("packing", PACKERS)
def test_several_packed_pieces_one_after_the_other(packing):
    pieces = b"".join(PACKERS[packing](part) for part in (b"a\n", b"", TEXT, b"b"))
    with open_binary(io.BytesIO(pieces)) as file:
        assert file.read() == b"a\n" + TEXT + b"b"


@pytest.mark.parametrize("packing", PACKERS)
def test_how_much_of_a_file_was_read_is_known(packing, tmp_path):
    content = os.urandom(1 << 20)
    path = tmp_path / "rows"
    path.write_bytes(PACKERS[packing](content))
    with open_binary(path) as file:
        assert file.fraction() <= 0.1
        file.read(1 << 19)
        assert 0.3 <= file.fraction() <= 1.0
        file.read()
        assert file.fraction() == 1.0
    with open_binary(io.BytesIO(PACKERS[packing](content))) as file:
        assert file.fraction() is None


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("left", [0.02, 0.5, 0.98])
def test_a_file_that_was_cut_is_refused_and_says_how_far_it_got(packing, left):
    packed = PACKERS[packing](os.urandom(200_000))
    cut = io.BytesIO(packed[: int(left * len(packed))])
    said = rf"the open file: the {packing} data ends too early, after [\d,]+ bytes of content; the "
    with pytest.raises(DataError, match=said + "file is incomplete: fetch it again"):
        open_binary(cut).read()


@pytest.mark.parametrize("packing", PACKERS)
def test_a_damaged_file_is_refused(packing):
    packed = bytearray(PACKERS[packing](os.urandom(200_000)))
    packed[len(packed) // 2 : len(packed) // 2 + 100] = bytes(100)
    said = rf"the open file: the {packing} data is damaged after [\d,]+ bytes"
    with pytest.raises(DataError, match=said):
        open_binary(io.BytesIO(bytes(packed))).read()


def test_a_packed_file_that_grows_without_end_is_unpacked_as_it_is_read():
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(1 << 28))
    with open_binary(io.BytesIO(bomb)) as file:
        assert file.read(10) == bytes(10)


def test_text_that_only_begins_like_a_packed_file():
    assert packing_of(b"BZh91AY&SYxx") == "bz2"
    for text in (b"BZh9 1:2 3:4 ", b"BZh", b"", b"1 1:1"):
        assert packing_of(text) == ""
        with open_binary(io.BytesIO(text)) as file:
            assert file.read() == text


@pytest.mark.parametrize("wrong", ["missing", "folder", "missing/deeper", "nul\0byte"])
def test_what_is_no_file_is_refused(wrong, tmp_path):
    (tmp_path / "folder").mkdir()
    says = {
        "missing": "missing: there is no such file",
        "folder": "folder is a folder, not a file; name a file in it",
        "missing/deeper": "deeper: there is no such file",
        "nul\0byte": "cannot be opened",
    }
    with pytest.raises(DataError, match=says[wrong]):
        open_binary(str(tmp_path / wrong))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"1")
    path.chmod(stat.S_IWUSR)
    with pytest.raises(DataError, match="Permission denied"):
        open_binary(path)


def test_a_file_that_is_open_as_text_is_refused(tmp_path):
    path = tmp_path / "rows"
    path.write_text("1 1:1")
    said = "rows is open as text; open it with mode 'rb'"
    with open(path) as text, pytest.raises(DataError, match=said):
        open_binary(text)


def test_what_cannot_be_read_at_all():
    with pytest.raises(TypeError, match="a path or an open binary file is needed, not int"):
        open_binary(3)


def test_without_zstandard_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DataError, match=r"zst needs zstandard: pip install 'pegasos\[data\]'"):
        open_binary(io.BytesIO(PACKED["zst"]))


def test_files_are_closed(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(PACKED["gz"])
    file = open_binary(path)
    inner = file.raw._file
    file.close()
    assert inner.closed
    with pytest.raises(ValueError, match="closed"):
        file.read()
