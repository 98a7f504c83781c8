"""The wheel: it holds all that tdsl needs, works away from the checkout, and installs nothing else at the top."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "grammar", "stdlib", "targets")
pytestmark = pytest.mark.slow


def run(*args: str | Path, cwd: Path, **env: str) -> str:
    """Run a program without what the surroundings say to Python."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TDSL_", "VIRTUAL_ENV"))}
    done = subprocess.run([str(a) for a in args], cwd=cwd, env=clean | env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(out: Path, kind: str, source: Path) -> Path:
    run(sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, source, cwd=out)
    (made,) = (p for p in out.iterdir() if p.suffix in (".whl", ".gz"))
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), "wheel", ROOT)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("sdist"), "sdist", ROOT)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_what_the_wheel_holds(wheel: Path) -> None:
    held = names(wheel)
    assert {n.split("/")[0] for n in held} == {"tdsl", f"tdsl-{wheel.name.split('-')[1]}.dist-info"}
    assert not [n for n in held if "__pycache__" in n]
    for folder in FOLDERS:
        here = {
            p.relative_to(ROOT).as_posix()
            for p in (ROOT / folder).rglob("*")
            if p.is_file() and not {"__pycache__", "gallery", "tree-sitter", "vscode"} & set(p.parts)
        }
        assert {n.removeprefix("tdsl/_data/") for n in held if n.startswith(f"tdsl/_data/{folder}/")} == here
    assert "tdsl/_data/tables/grammar" in held
    pages = {p.relative_to(ROOT).as_posix() for p in (ROOT / "tdsl" / "explain").glob("*.md")}
    assert pages <= held


def test_it_builds_a_design_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path)
    python = venv / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", site, wheel)
    run(sys.executable, "-m", "pip", *install, cwd=tmp_path)
    # what tdsl depends on comes from the environment of the tests, tdsl itself does not: PYTHONPATH reads no .pth files
    further = os.pathsep.join(p for p in sys.path if p.endswith("site-packages"))
    home = {"PYTHONPATH": further, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    where = run(python, "-c", "import tdsl; print(tdsl.__file__)", cwd=tmp_path, **home).strip()
    assert Path(where).is_relative_to(site)
    assert not [name for name in FOLDERS if (site / name).exists()]
    run(python, "-m", "tdsl", "build", "dgx_superpod_h100", "--set", "units=1", "--out", "out", cwd=tmp_path, **home)
    out = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*")}
    assert {"manifest.json", "fabric.json", "cabling/cables.csv"} <= out
    assert not (tmp_path / "cache" / "tdsl" / "grammar").exists()  # the parse tables are those of the wheel


@pytest.mark.daily
def test_a_wheel_from_the_sdist_is_the_same(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(sdist, tmp_path)  # made by this test; Python before 3.11.4 knows no filter
    (source,) = (p for p in tmp_path.iterdir() if p.is_dir())
    assert (source / "hatch_build.py").is_file()
    out = tmp_path / "out"
    out.mkdir()
    assert names(built(out, "wheel", source)) == names(wheel)
