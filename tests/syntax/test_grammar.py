"""The grammar, the word list and the pages of the codes agree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tdsl.syntax
from tdsl.syntax import keywords
from tdsl.syntax.grammar import compile_grammar, grammar_text, load_grammar_tables
from tdsl.system import cache, resources

PACKAGE = Path(tdsl.syntax.__file__).parent
FILES = (*PACKAGE.glob("*.py"), PACKAGE.parent / "compile" / "waivers.py")


def test_words() -> None:
    assert set(load_grammar_tables().words) == keywords.GRAMMAR_WORDS


def test_no_conflicts() -> None:
    compile_grammar(grammar_text(), strict=True)


def test_every_code_has_a_page() -> None:
    used = {code for path in FILES for code in re.findall(r"\bE00\d\d\b", path.read_text(encoding="utf-8"))}
    pages = {path.stem: path for path in (PACKAGE.parent / "explain").glob("E00*.md")}
    assert used == set(pages)
    for code, page in pages.items():
        text = page.read_text(encoding="utf-8")
        assert re.match(rf"# {code} [a-z_]+: \S", text) and "```fab\n" in text, code


def test_light_imports() -> None:
    program = (
        "import sys; from tdsl.findings.source import SourceFile; import tdsl.syntax.parser;"
        "assert 'lark' not in sys.modules; from tdsl.syntax.printer import format_source; format_source(SourceFile('t', 'a 1'));"
        "bad = {'numpy', 'networkx', 'z3', 'jinja2'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_folders() -> None:
    assert (resources.packaged_folder("grammar") / "fab.lark").is_file()


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    monkeypatch.setenv("TDSL_CACHE_DIR", str(own))
    assert cache.private_cache_folder() == own
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o755)
    assert cache.private_cache_folder() is None
    monkeypatch.setenv("TDSL_CACHE_DIR", "/proc/no/such")
    assert cache.private_cache_folder() is None
    monkeypatch.delenv("TDSL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.private_cache_folder() == tmp_path / "tdsl"


def test_corrupt_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDSL_CACHE_DIR", str(tmp_path / "c"))
    load_grammar_tables.cache_clear()
    load_grammar_tables()
    (kept,) = [f for f in (tmp_path / "c").rglob("*") if f.is_file()]
    kept.write_bytes(b"no tables")
    load_grammar_tables.cache_clear()
    assert load_grammar_tables().words
    kept.write_bytes(kept.read_bytes()[:2000])
    load_grammar_tables.cache_clear()
    assert load_grammar_tables().words
    load_grammar_tables.cache_clear()
