"""What all tests share: hypothesis profiles, goldens, data from elsewhere, and programs of the system."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

CI = os.environ.get("CI", "").lower() in ("1", "true")
GOLDENS = Path(__file__).parent / "goldens"

gc.disable()  # until all tests are collected: nothing of them is garbage, and to look for it took a third of that time

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if CI else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--golden``, or for some of them ``--golden-for``: the one way to rewrite expected outputs. ``--daily``: what is too long
    for each run."""
    parser.addoption("--golden", action="store_true", help="rewrite the expected outputs under tests/goldens")
    parser.addoption("--daily", action="store_true", help="run those tests alone that other runs leave out")
    parser.addoption("--golden-for", metavar="PATH", help="rewrite those alone whose path has the words of PATH in this order")


def pytest_collection_finish() -> None:
    """From here on garbage is collected as ever, but never looked for among what was collected."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--golden-for`` only the tests run that compare with goldens, with ``--daily`` only those of the daily run."""
    daily, some = config.getoption("--daily"), config.getoption("--golden-for")
    if daily or not (some or config.getoption("--golden")):
        items[:] = [i for i in items if (i.get_closest_marker("daily") is not None) is daily]
    if some:
        items[:] = [i for i in items if "golden" in getattr(i, "fixturenames", ())]


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the caller's changes what tdsl does, the cache's folder apart; answers of earlier calls are not given."""
    for name in os.environ:
        if name.startswith("TDSL_") and name not in ("TDSL_CACHE_DIR", "TDSL_TEST_DATA"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TDSL_CHECK_NO_CACHE", "1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a test as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


Golden = Callable[[str, "str | bytes"], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """``golden(name, content)``: compare with ``tests/goldens/<name>``; rewritten only under ``--golden``."""
    every, some = request.config.getoption("--golden"), request.config.getoption("--golden-for")

    def compare(name: str, content: str | bytes) -> None:
        path = GOLDENS / name
        words = iter(Path(name).with_suffix("").parts)
        rewrite = every or (some is not None and all(w in words for w in Path(some).parts))
        if some is not None and not rewrite:
            return
        data = content.encode() if isinstance(content, str) else content
        assert bytes(GOLDENS.parents[1]) not in data, f"{name} would hold the folder of this checkout"
        if rewrite:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_bytes() != data:
                path.write_bytes(data)
            return
        call = f"run `make golden FOR={name.rpartition('.')[0]}`"
        assert path.is_file(), f"there is no {path.relative_to(GOLDENS.parent)}: {call} and read what it holds"
        again = f"{name} differs; if it should, {call}"
        assert content == (path.read_text(encoding="utf-8") if isinstance(content, str) else path.read_bytes()), again

    return compare


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of data that nobody here wrote; tests that read it skip where it is not given."""
    given = os.environ.get("TDSL_TEST_DATA")
    if not given:
        pytest.skip("TDSL_TEST_DATA names no folder with data from elsewhere")
    folder = Path(given)
    if not folder.is_dir():
        pytest.fail(f"TDSL_TEST_DATA={given} is not a folder")
    return folder


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A `tdsl` for shells whose calls do not import it anew; see ``tests/forked.py``."""
    from tests.forked import program

    made, server = program(tmp_path_factory.mktemp("program"))
    yield made
    assert server.stdin is not None and server.stdout is not None
    server.stdin.close()
    server.wait(60)
    server.stdout.close()


def need_program(name: str, package: str) -> str:
    """The path of a system program. Absent: the test skips, or fails where CI runs as root and could have installed it."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        words = f"there is no program {name}: apt-get install {package}"
        if CI and os.geteuid() == 0:
            pytest.fail(words)
        pytest.skip(words)
    return found
