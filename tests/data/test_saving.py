"""Complete or absent: whatever happens while a file or a folder is written."""

import errno
import os
import signal

import pytest

from pegasos.data import DataError
from pegasos.data import saving as module
from pegasos.data.saving import saved_file, saved_folder

FULL = OSError(errno.ENOSPC, "No space left on device")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def killed(work):
    """Run ``work`` in a process that kills itself where it asks to."""
    child = os.fork()
    if child == 0:
        try:
            work(lambda: os.kill(os.getpid(), signal.SIGKILL))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def refused(sentence, writing):
    with pytest.raises(DataError, match=sentence), writing:
        pytest.fail("the block must not run")


def write_file(path, content, force=False, then=lambda: None):
    with saved_file(path, force) as file:
        file.write(content)
        then()


def write_folder(path, content, force=True, objection=lambda path: None, then=lambda: None):
    with saved_folder(path, force, objection) as folder:
        (folder / "a").write_bytes(content)
        (folder / "b").write_bytes(content)
        then()


def raising(error):
    def fail(*arguments):
        raise error

    return fail


# ---------------------------------------------------------------------------------------- files


def test_a_file_has_its_name_only_when_it_is_complete(tmp_path):
    path = tmp_path / "answer"
    with saved_file(path) as file:
        file.write(b"42")
        assert not path.exists()
        assert os.path.dirname(file.name) == str(tmp_path)
    assert path.read_bytes() == b"42"
    assert names(tmp_path) == ["answer"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    now = os.umask(0)
    os.umask(now)
    return now


@pytest.mark.parametrize(
    "error", [ValueError("bad row"), KeyboardInterrupt(), FileNotFoundError(2)]
)
@pytest.mark.parametrize("force", [False, True])
def test_a_failure_leaves_nothing_and_passes_on(tmp_path, error, force):
    path = tmp_path / "answer"
    if force:
        path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught:
        write_file(path, b"4", force, then=raising(error))
    assert caught.value is error
    assert names(tmp_path) == (["answer"] if force else [])
    assert not force or path.read_bytes() == b"old"


@pytest.mark.parametrize("moment", ["write", "fsync"])
def test_a_full_disk_is_one_sentence(tmp_path, moment, monkeypatch):
    if moment == "fsync":
        monkeypatch.setattr(module.os, "fsync", raising(FULL))
    then = raising(FULL) if moment == "write" else str
    with pytest.raises(DataError, match=r"no space left while writing .*answer; nothing was left"):
        write_file(tmp_path / "answer", b"42", then=then)
    assert names(tmp_path) == []


def test_a_file_is_replaced_only_if_asked(tmp_path):
    path = tmp_path / "answer"
    path.write_bytes(b"old")
    refused(r"answer exists already; .*force=True", saved_file(path))
    write_file(path, b"new", force=True)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["answer"]


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "answer"
    with pytest.raises(DataError, match="exists already"):
        write_file(path, b"mine", then=lambda: path.write_bytes(b"of somebody else"))
    assert path.read_bytes() == b"of somebody else"
    assert names(tmp_path) == ["answer"]


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, sentence in (("pipe", "not a regular file"), ("folder", "it is a folder")):
        refused(sentence, saved_file(tmp_path / name, force=True))
    assert names(tmp_path) == ["folder", "pipe"]


def test_a_missing_folder_and_a_closed_one_are_refused(tmp_path):
    refused(r"there is no folder .*nowhere; make it", saved_file(tmp_path / "nowhere" / "answer"))
    refused(r"cannot write .*: File name too long", saved_file(tmp_path / ("a" * 250)))
    assert names(tmp_path) == []


def test_behind_a_link_the_file_itself_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "answer").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "answer")
    write_file(tmp_path / "link", b"new", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "answer").read_bytes() == b"new"
    assert names(tmp_path / "there") == ["answer"]


@pytest.mark.skipif(module.fcntl is None, reason="needs locks")
def test_what_the_killed_have_left_is_removed_and_what_the_living_write_is_not(tmp_path):
    path = tmp_path / "answer"

    killed(lambda die: write_file(path, b"4", then=die))
    assert len(names(tmp_path)) == 1
    others = [f".answer.{'0' * 16}.tmp", ".answer.mine.tmp"]  # a link and a file: none of ours
    (tmp_path / others[0]).symlink_to(tmp_path)
    (tmp_path / others[1]).write_bytes(b"precious")
    with saved_file(path) as first:
        assert names(tmp_path) == sorted([os.path.basename(first.name), *others])
        with saved_file(path) as second:
            second.write(b"second")
        assert os.path.exists(first.name)
        path.unlink()
        first.write(b"first")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == [*others, "answer"]


# -------------------------------------------------------------------------------------- folders


def test_a_folder_has_its_name_only_when_it_is_complete(tmp_path):
    path = tmp_path / "rows"
    with saved_folder(path) as folder:
        (folder / "b").write_bytes(b"1")
        (folder / "a").write_bytes(b"2")
        assert not path.exists()
    assert names(tmp_path) == ["rows"]
    assert names(tmp_path / "rows") == ["a", "b"]


@pytest.mark.parametrize("error", [ValueError("bad row"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_folder(tmp_path, error):
    write_folder(tmp_path / "rows", b"old")
    with pytest.raises(type(error)):
        write_folder(tmp_path / "rows", b"new", then=raising(error))
    assert names(tmp_path) == ["rows"]
    assert (tmp_path / "rows" / "a").read_bytes() == b"old"


def test_a_folder_is_replaced_only_if_asked_and_nothing_speaks_against_it(tmp_path):
    path = tmp_path / "rows"
    write_folder(path, b"old")
    refused("exists already", saved_folder(path, False, lambda path: None))
    refused(
        "is not replaced: it is dear to me",
        saved_folder(path, True, lambda path: "it is dear to me"),
    )
    refused("is not replaced: it is a folder", saved_folder(path, force=True))
    assert (path / "a").read_bytes() == b"old"
    write_folder(path, b"new")
    assert (path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["rows"]


def test_a_file_is_never_replaced_by_a_folder(tmp_path):
    (tmp_path / "rows").write_bytes(b"old")
    refused("it is a file", saved_folder(tmp_path / "rows", True, lambda path: None))
    assert (tmp_path / "rows").read_bytes() == b"old"


def test_if_the_new_folder_cannot_take_the_name_the_old_one_keeps_it(tmp_path, monkeypatch):
    path = tmp_path / "rows"
    write_folder(path, b"old")
    rename = os.rename

    def fail(source, target):
        if str(source).endswith(".tmp"):
            raise OSError(errno.EIO, "Input/output error", str(source))
        rename(source, target)

    monkeypatch.setattr(module.os, "rename", fail)
    with pytest.raises(DataError, match=r"cannot write .*: Input/output error"):
        write_folder(path, b"new")
    assert (path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["rows"]


CALLS = ("mkdir", "fsync", "rename", "rmdir", "unlink")


@pytest.mark.skipif(module.fcntl is None, reason="needs locks")
@pytest.mark.parametrize("replaced", [False, True])
def test_killed_before_any_call_of_the_system_the_folder_is_old_new_or_absent(tmp_path, replaced):
    """Each moment in turn; the next writer then finds a clean place, and the old one if any."""
    path = tmp_path / "rows"

    def dying_at(count):
        def work(die):
            left = [count]
            for name in CALLS:
                real = getattr(os, name)

                def call(*arguments, real=real, **options):
                    left[0] -= 1
                    if left[0] < 0:
                        die()
                    return real(*arguments, **options)

                setattr(module.os, name, call)
            write_folder(path, b"new", replaced)
            die()  # after the last call

        return work

    seen = set()
    for count in range(30):
        if replaced:
            write_folder(path, b"old")
        killed(dying_at(count))
        found = (path / "b").read_bytes() if path.exists() else None
        assert found in (b"old", b"new", None)
        assert found is None or (path / "a").read_bytes() == found
        assert found != b"old" or replaced
        seen.add(found)
        if replaced:  # not even in the moment between the two names is the old one lost
            refused("exists already", saved_folder(path, False, lambda path: None))
            assert (path / "a").read_bytes() in (b"old", b"new")
        write_folder(path, b"next")
        assert names(tmp_path) == ["rows"]
        for name in ("a", "b"):
            (path / name).unlink()
        path.rmdir()
    assert seen == ({b"old", b"new", None} if replaced else {b"new", None})
