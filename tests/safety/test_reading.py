"""What a stranger's files may make tdsl read: nothing outside of the folders searched, nothing that never ends."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write
from tests.safety.built import shell

SECRET = "token = ghp_averysecretword\n"
USES = """\
use lib.sizes (nodes)
fabric f {
  host node[nodes(1)]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
}
"""


def hidden(words: str, *args: str | Path) -> None:
    """A call is refused with these words, and shows nothing of the secret."""
    done = tdsl(*args)
    assert done.exit_code == 2 and words in done.stderr, done.output
    assert "ghp_" not in done.output and "token" not in done.output


def test_a_design_that_is_a_link_to_another_kind_of_file_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(SECRET)
    (tmp_path / "leak.fab").symlink_to(".git/config")
    for command in ("check", "build", "show", "fmt", "expand", "lock"):
        hidden("it is a link to a file of another kind", command, tmp_path / "leak.fab")


@pytest.mark.parametrize("name", ["failures", "config", "a.txt"])
def test_a_link_leads_to_what_its_name_says(name: str, tmp_path: Path) -> None:
    """A file without an ending is none that has another name, and nothing of git's is shown by a name that is not in ``.git``."""
    (tmp_path / ".git").mkdir()
    for held in ("config", "a.txt"):
        (tmp_path / ".git" / held).write_text(SECRET)
    (tmp_path / name).symlink_to(".git/a.txt" if name == "a.txt" else ".git/config")
    design = write(tmp_path)
    for option in ("--ibnetdiscover", "--lldp", "--p2p"):
        hidden("it is a link to a file of another kind", "audit", design, option, tmp_path / name)


def test_a_folder_of_captures_shows_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "id").write_text(SECRET)
    (tmp_path / "lldp").mkdir()
    (tmp_path / "lldp" / "id").symlink_to("../id")
    hidden("it leads out of the folders", "audit", write(tmp_path), "--lldp", tmp_path / "lldp")


def test_use_follows_no_link_out_of_the_folders_searched(tmp_path: Path) -> None:
    """Neither a link to a file nor to a folder; with --path the same folder is read."""
    (tmp_path / "away").mkdir()
    lib = tmp_path / "home" / "lib"
    lib.mkdir(parents=True)
    away = write(tmp_path / "away", "def nodes(n: int) = n * 4\nlet ghp_secret = \n", "sizes.fab")
    design = write(lib.parent, USES)
    for folder in (False, True):
        if folder:
            (lib / "sizes.fab").unlink()
            lib.rmdir()
        (lib if folder else lib / "sizes.fab").symlink_to(away.parent if folder else away)
        done = tdsl("check", design)
        assert done.exit_code == 1 and "error[E0112]" in done.stdout and "ghp_secret" not in done.stdout
    write(tmp_path / "away", "def nodes(n: int) = n * 4\n", "sizes.fab")
    assert tdsl("check", design, "--path", tmp_path / "away").exit_code == 0


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_a_folder_of_models_with_a_file_that_never_ends(kind: str, tmp_path: Path, forked: Path) -> None:
    """A pipe waits for ever, and a link to /dev/zero takes all memory."""
    (tmp_path / "lib" / "sizes").mkdir(parents=True)
    write(tmp_path / "lib" / "sizes", "def nodes(n: int) = n * 4\n", "good.fab")
    write(tmp_path, USES)
    bad = tmp_path / "lib" / "sizes" / "bad.fab"
    if kind == "pipe":
        os.mkfifo(bad)
    elif kind == "device":
        bad.symlink_to("/dev/zero")
    else:
        with bad.open("wb") as file:
            file.truncate(1 << 40)
    done = shell(tmp_path, "tdsl check small.fab", forked)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "link", "kind"])
def test_a_table_of_demands(kind: str, tmp_path: Path, forked: Path) -> None:
    name = "secrets" if kind == "kind" else "pairs.csv"
    write(tmp_path, SMALL.replace("  require", f'  require throughput permutation "{name}" > 0\n  require', 1))
    (tmp_path / "secrets").write_text(SECRET)
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    elif kind != "kind":
        (tmp_path / name).symlink_to("/dev/zero" if kind == "device" else "secrets")
    done = shell(tmp_path, "tdsl check small.fab --select throughput", forked)
    assert done.returncode == 1 and "ghp_" not in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert {"pipe": "not a regular file", "kind": "ends in `.csv`", "device": "out of the folders"}.get(
        kind, "another kind"
    ) in done.stdout


def test_a_lock_that_is_a_link(tmp_path: Path) -> None:
    """It is neither read nor written through."""
    design = write(tmp_path)
    victim = tmp_path / "victim.txt"
    victim.write_text(SECRET)
    (tmp_path / "small.fab.lock").symlink_to(victim)
    done = tdsl("check", design)
    assert done.exit_code == 2 and "ghp_" not in done.output
    done = tdsl("lock", design, "--fresh")
    assert done.exit_code == 2 and "links are not followed for writing" in done.stderr
    assert victim.read_text() == SECRET


def git(*args: str) -> bytes:
    return subprocess.run(["git", *args], check=True, capture_output=True).stdout


@pytest.fixture
def repo(here: Path) -> Path:
    """A repository without a commit, as the current folder."""
    git("init", "-q", "-b", "main")
    return here


def commit(*more: str) -> None:
    """A commit of all that is there."""
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x", *more)


def committed(tree: str) -> None:
    """A commit of a tree, which is made as it is."""
    who = b"a <a@b> 1 +0000"
    made = thing(b"commit", b"tree %s\nauthor %s\ncommitter %s\n\nx\n" % (tree.encode(), who, who))
    git("update-ref", "refs/heads/main", made)


def thing(kind: bytes, content: bytes) -> str:
    """Put an object into the repository as it is: git itself would refuse such trees."""
    data = kind + b" %d\0" % len(content) + content
    name = hashlib.sha1(data).hexdigest()
    path = Path(".git/objects") / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(data))
    return name


def folder(*entries: tuple[bytes, bytes, str]) -> str:
    return thing(b"tree", b"".join(mode + b" " + name + b"\0" + bytes.fromhex(blob) for mode, name, blob in entries))


def test_a_commit_cannot_write_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees that git would not make: `diff` lays nothing out, and refuses the revision."""
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    git("init", "-q", "-b", "main")
    blob = thing(b"blob", SMALL.encode())
    inner = folder((b"100644", b"evil.fab", blob))
    files = [(b"100644", name, blob) for name in (b"../evil.fab", b"/evil.fab", b"e\x1b[2J.fab", b"..\\evil.fab")]
    write(Path())
    for entry in ((b"40000", b"..", inner), (b"40000", b".git", inner), *files):
        committed(folder(entry, (b"100644", b"small.fab", blob)))
        before = sorted(p.as_posix() for p in tmp_path.rglob("*"))
        done = tdsl("diff", "main", "small.fab")
        assert (done.exit_code == 2 and "which leads elsewhere" in done.stderr) or "which is not text" in done.stderr, done.output
        assert "\x1b" not in done.stderr
        assert sorted(p.as_posix() for p in tmp_path.rglob("*")) == before


def test_a_name_with_a_slash_hides_no_file(repo: Path) -> None:
    """A tree with an entry `lib/sizes.fab` beside the folder `lib`: two files of one name, of which one would not be seen."""
    blobs = [thing(b"blob", f"def nodes(n: int) = n * {k}\n".encode()) for k in (4, 5)]
    inner = folder((b"100644", b"sizes.fab", blobs[0]))
    design = thing(b"blob", USES.encode())
    committed(folder((b"40000", b"lib", inner), (b"100644", b"lib/sizes.fab", blobs[1]), (b"100644", b"small.fab", design)))
    Path("lib").mkdir()
    write(Path("lib"), "def nodes(n: int) = n * 4\n", "sizes.fab")
    write(Path(), USES)
    before = sorted(p for p in repo.rglob("*") if ".git" not in p.parts)
    done = tdsl("diff", "main", "small.fab", "--no-checks")
    assert done.exit_code == 2 and "twice" in done.stderr, done.output
    assert sorted(p for p in repo.rglob("*") if ".git" not in p.parts) == before


def test_a_revision_is_read_and_nothing_is_written(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it uses, its table and its lock, also while the files of today lie there; no temporary folder is made."""
    Path("lib").mkdir()
    write(Path("lib"), "def nodes(n: int) = n * 4\n", "sizes.fab")
    write(Path(), USES, "pod.fab")
    commit()
    write(Path("lib"), "def nodes(n: int) = n * 5\n", "sizes.fab")
    monkeypatch.setenv("TMPDIR", str(repo / "absent"))
    before = sorted(repo.rglob("*"))
    done = tdsl("diff", "main", "pod.fab", "--no-checks")
    assert done.exit_code == 0 and "+ node[4] (DGX_H100)" in done.stdout, done.output
    assert sorted(repo.rglob("*")) == before
    git("replace", "main:lib/sizes.fab", git("hash-object", "-w", "lib/sizes.fab").decode().strip())
    done = tdsl("diff", "main", "pod.fab", "--no-checks")
    assert "+ node[4] (DGX_H100)" in done.stdout, done.output  # git replace does not change what a revision holds


SETTINGS = (
    '[check]\noutput = "VICTIM"',
    '[check]\nreport = ["json=VICTIM"]',
    '[check]\ncertificates = "../victims"',
    '[check]\noutput = ".git/hooks/post-checkout"',
    '[check]\noutput = "link"',
    '[check]\noutput = "a\\u0000b"',
    '[check]\nfail-file = ["VICTIM"]',
    'path = [".."]',
    'path = ["a\\u0000b"]',
)


def test_settings_of_a_checkout_name_nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, victim = tmp_path / "home", tmp_path / "victim"
    (home / ".git" / "hooks").mkdir(parents=True)
    monkeypatch.chdir(home)
    victim.write_text(SECRET)
    (home / "link").symlink_to(victim)
    write(home)
    for settings in SETTINGS:
        (home / "tdsl.toml").write_text(settings.replace("VICTIM", str(victim)) + "\n")
        done = tdsl("check", "small.fab")
        assert done.exit_code == 2 and "which is outside" in done.stderr, (settings, done.output)
        assert victim.read_text() == SECRET and "ghp_" not in done.output
        assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "victim"] and not list((home / ".git/hooks").iterdir())


def test_settings_with_a_name_that_no_file_can_have(here: Path) -> None:
    write(here)
    for settings, words in (('path = ["NAME"]\n', "there is no folder"), ('[check]\noutput = "NAME"\n', "File name too long")):
        Path("tdsl.toml").write_text(settings.replace("NAME", "{" * 3000))
        done = tdsl("check", "small.fab")
        assert done.exit_code == 2 and words in done.stderr, done.output[-2000:]


@pytest.mark.parametrize("kind", ["pipe", "socket", "zero", "link"])
def test_files_that_a_call_names_are_regular(kind: str, here: Path) -> None:
    """No named pipe that nobody writes to, no device without an end, and nothing of another file's text."""
    write(here)
    Path("secret").write_text(SECRET)
    for name in ("a.fab", "a.xml"):
        if kind == "pipe":
            os.mkfifo(name)
        elif kind == "socket":
            socket.socket(socket.AF_UNIX).bind(name)
        else:
            Path(name).symlink_to("/dev/zero" if kind == "zero" else "secret")
    designs = ("check a.fab", "build a.fab", "lock a.fab", "fmt a.fab", "show a.fab")
    for call in (*designs, "lint-nccl a.xml", "check small.fab --fail-file a.xml"):
        done = tdsl(*call.split())
        assert done.exit_code == 2 and "ghp_" not in done.output, done.output
        assert ("not a regular file" in done.stderr) or ("link to a file of another kind" in done.stderr), done.stderr


def test_what_a_shell_has_open_is_read(tmp_path: Path) -> None:
    write(tmp_path)
    done = shell(tmp_path, "tdsl check small.fab --select reachability --fail-file <(echo 'link leaf[0] spine[0]')")
    assert done.returncode in (0, 1) and "not a regular file" not in done.stderr, done.stderr


@pytest.mark.parametrize("lost", ["blob", "tree"])
def test_no_program_of_a_checkout_is_run_for_a_missing_object(lost: str, here: Path) -> None:
    """A partial clone whose remote is a command: `git` itself would run it."""
    git("init", "-q", "-b", "main")
    blob = thing(b"blob", SMALL.encode())
    tree = folder((b"100644", b"small.fab", blob))
    committed(tree)
    for name, value in {
        "core.repositoryformatversion": "1", "extensions.partialClone": "evil", "remote.evil.promisor": "true",
        "remote.evil.partialclonefilter": "blob:none", "protocol.ext.allow": "always",
        "remote.evil.url": f"ext::sh -c touch% {here}/ran",
    }.items():  # fmt: skip
        git("config", name, value)
    gone = {"blob": blob, "tree": tree}[lost]
    (Path(".git/objects") / gone[:2] / gone[2:]).unlink()
    write(Path())
    done = tdsl("diff", "main", "small.fab", "--no-checks")
    assert done.exit_code == 2 and not (here / "ran").exists(), done.output
    subprocess.run(["git", "cat-file", "-p", gone], capture_output=True, check=False)
    assert (here / "ran").exists(), "what is tested here is nothing on this version of git"


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("check", 'cluster = "tcp://203.0.113.1:8786"'), ("check", "fix = true"), ("check", "unsafe = true"),
        ("build", 'sign = "key"'), ("explore", 'cluster = "tcp://203.0.113.1:8786"'),
    ],
)  # fmt: skip
def test_settings_of_a_checkout_run_nothing(command: str, settings: str, here: Path) -> None:
    """Code of another machine (Dask sends it as pickles), edits of the designs, a key."""
    write(here)
    Path("key").write_text("")
    Path("tdsl.toml").write_text(f"[{command}]\n{settings}\n")
    done = tdsl(command, "small.fab", *(("--vary", "nodes=2,3") if command == "explore" else ()))
    assert done.exit_code == 2 and "is for the call or the environment" in done.stderr, done.output


def test_a_shallow_clone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As CI systems make them: the commit in common, and the revision before, are there, but not in this clone."""
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    git("init", "-q", "-b", "main")
    for nodes in ("4", "5", "6"):
        write(Path(), SMALL.replace("= 4", f"= {nodes}"))
        commit()
        if nodes == "4":
            git("branch", "side")
    git("checkout", "-q", "side")
    commit("--allow-empty")
    git("clone", "-q", "--depth", "1", "-b", "main", f"file://{Path.cwd()}", "../clone")
    monkeypatch.chdir(tmp_path / "clone")
    git("fetch", "-q", "--depth", "1", "origin", "side:side")
    for args in (("main...side",), ("HEAD~1", "small.fab")):
        done = tdsl("diff", *args)
        assert done.exit_code == 2 and "this clone is shallow" in done.stderr and "fetch-depth: 0" in done.stderr, done.output
    git("fetch", "-q", "--unshallow")
    assert tdsl("diff", "HEAD~1", "small.fab", "--no-checks").exit_code == 0
    done = tdsl("diff", "nowhere", "small.fab")
    assert done.exit_code == 2 and "there is no revision nowhere here" in done.stderr and "shallow" not in done.stderr


def test_why_a_repository_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was `this is not a git repository`: one of another user, as in a container; a bare one; no git at all."""
    monkeypatch.chdir(tmp_path)
    for name, bare in (("bare.git", ["--bare"]), ("theirs", [])):
        git("init", "-q", "-b", "main", *bare, name)
    monkeypatch.chdir("bare.git")
    done = tdsl("diff", "main...side")
    assert done.exit_code == 2 and "a repository without files (bare" in done.stderr, done.output
    monkeypatch.chdir(tmp_path / "theirs")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with monkeypatch.context() as owner:
        owner.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        owner.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        done = tdsl("diff", "main...side")
        assert done.exit_code == 2 and "another user owns the repository" in done.stderr, done.output
        assert f"`git config --global --add safe.directory {Path.cwd()}`" in " ".join(done.stderr.split()), done.output
    monkeypatch.chdir(tmp_path)
    assert "this is not a git repository" in tdsl("diff", "main...side").stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not installed" in tdsl("diff", "main...side").stderr


@pytest.mark.parametrize("name", ["end\n", "two\nlines", " blank ", "latin\udce9"])
def test_a_repository_in_a_folder_with_a_strange_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no UTF-8 were E0901; the last line break of the name was cut off."""
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    git("init", "-q", "-b", "main")
    write(Path())
    commit()
    write(Path(), SMALL.replace("= 4", "= 5"))
    done = tdsl("diff", "main", "small.fab", "--no-checks")
    assert done.exit_code == 0 and "node[4]" in done.stdout, done.output


LONG = "9" * 5000


@pytest.mark.parametrize("number", ["1e99999999", "-1e99999999", "inf", "nan", LONG, f"0.{LONG}"])
def test_numbers_without_an_end(number: str, here: Path) -> None:
    """In prices, settings, a target's manifest, a table and an option: a line that says so, at once."""
    write(here)
    write(here, f'currency = "USD"\ndate = 2026-01-01\n[price]\nQM9700 = {number}\n', "prices.toml")
    write(here, SMALL.replace("  require", '  require throughput "pairs.csv" > 0\n  require', 1), "demands.fab")
    write(here, f"0,1,1,1\n{number},0,1,1\n1,1,0,1\n1,1,1,0\n", "pairs.csv")
    Path("more/evil").mkdir(parents=True)
    write(Path("more/evil"), f'title = "t"\nconsumer = "c"\n[options]\na = {number}\n', "target.toml")
    options = f"build small.fab --option cabling.x={number} --option gpudirect.mtu={number}"
    for call, status, code in (
        ("check small.fab --prices prices.toml", 1, "E0208"),
        ("check demands.fab --select throughput", 1, ""),
        ("build small.fab --target-path more --target evil", 2, "E0502"),
        (options, 2, ""),
    ):
        done = tdsl(*call.split())
        assert done.exit_code == status and code in done.output and "E09" not in done.output, done.output
    write(here, f"[check]\njobs = {number}\n", "tdsl.toml")
    done = tdsl("check", "small.fab")
    assert done.exit_code == 2 and "E09" not in done.output, done.output


@pytest.mark.parametrize("text", ["[" * 50_000, "a," * 10_000, '"' + "a\n" * 50_000, "\0" * 1000, "- " * 50_000])
def test_tables_and_sites_of_one_line(text: str, tmp_path: Path) -> None:
    """A cell longer than Python's reader of CSV takes, and brackets that a reader of YAML takes the square of time for."""
    design = write(tmp_path)
    table = tmp_path / "table"
    table.write_text(text)
    calls = (
        ("check", design, "--places", table), ("check", design, "--prices", table),
        ("build", design, "--target", "cabling", "--assets", table, "--out", tmp_path / "out"),
        ("build", design, "--target", "cabling", "--site", table, "--out", tmp_path / "out"),
        ("check", design, "--fail-file", table), ("check", design, "--scenarios", table), ("import", table),
        ("audit", design, "--p2p", table), ("lint-nccl", table),
    )  # fmt: skip
    for call in calls:
        begin = time.process_time()
        done = tdsl(*call)
        assert done.exit_code in (0, 1, 2) and "E090" not in done.output and time.process_time() - begin < 10, done.output[-500:]


BELL = "a\x07b"
"""A name with a control character. A bell stands for all: click itself takes escape sequences out where there is no terminal."""


@pytest.mark.parametrize(
    "call", ["check BELL", "check --config BELL small.fab", "diff BELL...HEAD", "help BELL", "BELL", "fmt BELL"]
)
def test_names_of_a_call_do_not_steer_the_terminal(call: str, here: Path) -> None:
    write(here)
    done = tdsl(*call.replace("BELL", BELL).split(" "))
    assert done.exit_code == 2 and "\ufffd" in done.stderr and "\x07" not in done.output, done.output


def test_settings_do_not_steer_the_terminal(here: Path) -> None:
    write(here)
    values = (
        '[check]\n"BELL" = 1',
        '[check]\noutput = "../BELL"',
        '"BELL" = 1',
        'path = ["../BELL"]',
        '[severity]\n"BELL" = "error"',
    )
    for settings in values:
        (here / "tdsl.toml").write_text(settings.replace("BELL", "\\u0007") + "\n")
        done = tdsl("check", "small.fab")
        assert done.exit_code == 2 and "\ufffd" in done.stderr and "\x07" not in done.output, done.output
