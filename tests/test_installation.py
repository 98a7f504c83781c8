"""The files of other package systems say what pyproject.toml says."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def plain(requirement: str) -> str:
    return requirement.replace(" ", "").lower()


def test_the_conda_recipe() -> None:
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    needed = {plain(r) for r in recipe["requirements"]["run"]}
    assert needed == {plain(r) for r in PROJECT["dependencies"]} | {f"python{PROJECT['requires-python']}"}
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in PROJECT["scripts"].items()]
    assert (PACKAGING / "conda" / recipe["source"]["path"]).resolve() == ROOT


def test_the_container_copies_what_a_wheel_is_built_of() -> None:
    text = (PACKAGING / "Dockerfile").read_text(encoding="utf-8")
    copied = {word for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for word in line.split()[:-1]}
    assert all((ROOT / word).exists() for word in copied)
    hook = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    folders = set(re.findall(r'"(\w+)"', re.search(r"^FOLDERS = \((.*)\)$", hook, re.MULTILINE)[1]))  # type: ignore[index]
    assert copied >= {"pyproject.toml", "hatch_build.py", "tdsl", PROJECT["readme"], *PROJECT["license-files"], *folders}
    extras = re.search(r"tdsl\[([\w,]+)\]", text)
    assert extras and set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
    assert 'ENTRYPOINT ["tdsl"]' in text and "tdsl" in PROJECT["scripts"]


def test_the_formula() -> None:
    text = (PACKAGING / "homebrew" / "tdsl.rb").read_text(encoding="utf-8")
    assert f'version "{PROJECT["version"]}"' in text and f'license "{PROJECT["license"]}"' in text


@pytest.mark.skipif(not shutil.which("ruby"), reason="no ruby here: apt install ruby")
def test_the_formula_parses() -> None:
    done = subprocess.run(["ruby", "-c", PACKAGING / "homebrew" / "tdsl.rb"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
