"""``tdsl verify``: an output folder against its own manifest."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write
from tests.conftest import need_program


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    assert tdsl("build", write(folder), "--out", folder / "out", "--target", "cabling", "--target", "json").exit_code == 0
    return folder / "out"


@pytest.fixture
def out(built: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(built, tmp_path / "out"))


def listing(out: Path, **changed: object) -> None:
    """Change entries of the manifest."""
    manifest = json.loads((out / "manifest.json").read_bytes()) | changed
    (out / "manifest.json").write_text(json.dumps(manifest))


def some(out: Path) -> str:
    return sorted(json.loads((out / "manifest.json").read_bytes())["files"])[0]


@pytest.mark.parametrize("damage", ["flipped", "longer", "gone", "link", "folder", "pipe"])
def test_damage_is_seen(damage: str, out: Path) -> None:
    path, kept = out / some(out), out.parent / "kept"
    data = path.read_bytes()
    path.rename(kept)
    half = len(data) // 2
    {
        "flipped": lambda: path.write_bytes(data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :]),
        "longer": lambda: path.write_bytes(data + b"\n"),
        "gone": lambda: None,
        "link": lambda: path.symlink_to(kept),  # the same bytes, but who knows for how long
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
    }[damage]()
    done = tdsl("verify", out)
    kind = "missing" if damage == "gone" else "differs"
    assert done.exit_code == 1 and f"{kind:<8} {out.as_posix()}/{some(out)}" in done.stdout, done.stdout


def test_files_of_others(out: Path) -> None:
    (out / "notes\x1b[2J.txt").write_text("mine")
    done = tdsl("verify", out)
    assert done.exit_code == 0 and "extra" in done.stdout and "\x1b" not in done.stdout
    assert tdsl("verify", out, "--strict").exit_code == 1


def test_paths_of_a_manifest(out: Path) -> None:
    """It reads nothing outside, and a file has one path: half of a character of UTF-16 ended the command with an internal error,
    other paths counted a file twice."""
    (out.parent / "secret").write_bytes(b"")
    files = json.loads((out / "manifest.json").read_bytes())["files"]
    empty = {"sha256": hashlib.sha256(b"").hexdigest(), "size": 0}
    wrong = [{path: empty} for path in ("../secret", "/etc/hostname", "", "a\0b", ".", "sub/../../secret")]
    twice = ("./fabric.json", "fabric.json/", "cabling//cables.csv", "\ud800", "a\\b")
    for listed in (*wrong, *(files | {path: files["fabric.json"]} for path in twice)):
        listing(out, files=listed)
        done = tdsl("verify", out)
        assert done.exit_code == 1 and f"1 of {len(listed)} files differ" in done.stdout, done.output


def test_what_is_no_manifest(out: Path) -> None:
    for text in ("", "{}", "[]", '{"schema": 1, "tdsl": "0", "files": {"a": 1}}', "[" * 100_000):
        (out / "manifest.json").write_text(text)
        done = tdsl("verify", out)
        assert done.exit_code == 2 and "is not a manifest of schema 1" in done.stderr
    (out / "manifest.json").unlink()
    done = tdsl("verify", out)
    assert done.exit_code == 2 and "tdsl did not write this folder" in done.stderr


# ------------------------------------------------------------ signatures, by the real program


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two keys, ``a`` and ``b``, and files of allowed signers that list one each."""
    folder = tmp_path_factory.mktemp("keys")
    program = need_program("ssh-keygen", "openssh-client")
    for name in "ab":
        subprocess.run([program, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True)
        public = (folder / f"{name}.pub").read_text()
        (folder / f"allowed-{name}").write_text(f'{name}@example.com namespaces="tdsl" {public}')
        (folder / f"other-{name}").write_text(f'{name}@example.com namespaces="git" {public}')
    return folder


def test_a_signed_build(keys: Path, tmp_path: Path) -> None:
    """Who signed it is said; another's key, a key for other things, a changed manifest and none are refused."""
    out, design = tmp_path / "out", write(tmp_path)
    done = tdsl("build", design, "--out", out, "--target", "cabling", "--sign", keys / "a")
    assert done.exit_code == 0 and "manifest.json.sig: signed" in done.stdout, done.output
    done = tdsl("verify", out, "--strict", "--signers", keys / "allowed-a")
    assert done.exit_code == 0 and "signed by a@example.com" in done.stdout, done.output
    for allowed, why in (("allowed-b", "not among the allowed signers"), ("other-a", "the signature is not of this manifest")):
        done = tdsl("verify", out, "--signers", keys / allowed)
        assert done.exit_code == 1 and why in done.stdout, done.output
    assert tdsl("verify", out).exit_code == 0
    # Signed for tdsl, by ssh-keygen itself, and checked by it.
    line = ["ssh-keygen", "-Y", "verify", "-f", keys / "allowed-a", "-I", "a@example.com", "-n", "tdsl", "-s"]
    checked = [*map(str, line), str(out / "manifest.json.sig")]
    assert subprocess.run(checked, input=(out / "manifest.json").read_bytes(), check=False, capture_output=True).returncode == 0
    # A later build without a key keeps the signature, which is then of another manifest.
    assert tdsl("build", design, "--out", out, "--target", "cabling", "--set", "nodes=5").exit_code == 0
    done = tdsl("verify", out, "--signers", keys / "allowed-a")
    assert done.exit_code == 1 and "the signature is not of this manifest" in done.stdout
    assert tdsl("build", design, "--out", out, "--target", "cabling", "--set", "nodes=5", "--sign", keys / "b").exit_code == 0
    assert "signed by b@example.com" in tdsl("verify", out, "--signers", keys / "allowed-b").stdout
    (out / "manifest.json.sig").unlink()
    done = tdsl("verify", out, "--signers", keys / "allowed-a")
    assert done.exit_code == 1 and "there is no manifest.json.sig" in done.stdout


def test_a_signature_that_is_none(keys: Path, out: Path) -> None:
    """Nonsense, a link, and a signature that is too large."""
    place = out / "manifest.json.sig"
    for content in (b"nonsense", b"\0" * 100_000, b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"):
        place.write_bytes(content)
        done = tdsl("verify", out, "--signers", keys / "allowed-a")
        assert done.exit_code == 1 and "unsigned" in done.stdout and "Traceback" not in done.output, done.output
    place.unlink()
    place.symlink_to(keys / "a.pub")
    assert tdsl("verify", out, "--signers", keys / "allowed-a").exit_code == 1


def test_what_cannot_sign(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without a key, and a machine without the program: status 2 and a line; for designs of strangers it is refused."""
    design = write(tmp_path)
    args = ("build", design, "--out", tmp_path / "out", "--target", "cabling", "--sign")
    done = tdsl(*args, design)
    assert done.exit_code == 2 and "the output is built, and not signed" in done.stderr, done.output
    monkeypatch.setenv("PATH", str(tmp_path))
    done = tdsl(*args, keys / "a")
    assert done.exit_code == 2 and "signatures need ssh-keygen" in done.stderr, done.output
    monkeypatch.chdir(tmp_path)
    done = tdsl("build", "small.fab", "--untrusted", "--sign", keys / "a")
    assert done.exit_code == 2 and "--sign is for one's own designs" in done.stderr, done.output


@pytest.mark.parametrize("kind", ["pipe", "device", "hole"])
def test_keys_and_signers_are_regular_files(kind: str, out: Path, tmp_path: Path) -> None:
    """`ssh-keygen` would wait for the other end of a pipe, and read a device without an end."""
    place = tmp_path / "key"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as file:
            file.truncate(1 << 40)
    (out / "manifest.json.sig").write_text("-----BEGIN SSH SIGNATURE-----\n")
    done = tdsl("verify", out, "--signers", place)
    assert done.exit_code == 1 and "not a regular file" in done.stdout, done.output
    done = tdsl("build", write(tmp_path), "--out", tmp_path / "signed", "--target", "cabling", "--sign", place)
    assert done.exit_code == 2 and "not a regular file" in done.stderr, done.output


def test_a_manifest_writes_nothing_outside(out: Path, tmp_path: Path) -> None:
    """`tdsl render` copies what a manifest lists, with secrets in it."""
    (out / "evil").write_text("@@SECRET@@")
    (tmp_path / "secrets").write_text("SECRET=verysecret\n")
    entry = {"sha256": hashlib.sha256(b"@@SECRET@@").hexdigest(), "size": 10}
    for path in ("../out/evil", "/tmp/evil", "a/../../out/evil", "a//evil", "./evil"):
        listing(out, secrets=["SECRET"], files={path: entry})
        done = tdsl("render", out, "--secrets", tmp_path / "secrets", "--to", tmp_path / "load")
        assert done.exit_code == 1 and "is not as `tdsl build` writes it" in done.stderr, done.output
        assert (out / "evil").read_text() == "@@SECRET@@" and not (tmp_path / "load").exists()


def test_a_manifest_that_others_would_read_otherwise(out: Path) -> None:
    """A key that is given twice, another encoding, and values of other kinds: other readers take another of them, or none."""
    data = (out / "manifest.json").read_bytes()
    other = b'{"%s": {"sha256": "' % some(out).encode() + b"0" * 64 + b'", "size": 1}'
    for changed in (
        data.replace(b'"files": {', b'"files": ' + other + b'}, "files": {', 1),
        data.replace(b'"files": {', b'"files": ' + other + b", ", 1),
        b"\xef\xbb\xbf" + data,
        data.decode().encode("utf-16"),
        data.replace(b'"schema": 1', b'"schema": true'),
        data.replace(b'"schema": 1', b'"schema": 1, "only": "leaf"'),
        data.replace(b'"name": "small"', b'"name": []'),
        re.sub(rb'"tdsl": "[^"]*"', b'"tdsl": ' + b"[" * 500 + b"]" * 500, data),
    ):
        assert changed != data
        (out / "manifest.json").write_bytes(changed)
        done = tdsl("verify", out)
        assert done.exit_code == 2 and "is not a manifest of schema 1" in done.stderr, (changed[:80], done.output)


def test_no_text_of_a_manifest_or_a_folder_is_a_line_of_its_own(out: Path) -> None:
    """Nor does it steer the terminal."""
    said = {"name": "a\nout: signed by b", "sha256": "\x1b[2J\nout: 3", "parameters": {}}
    listing(out, design=said, tdsl="0\nout: signed by b")
    (out / "x\nout: signed by b").write_text("")
    done = tdsl("verify", out)
    lines = done.stdout.splitlines()
    assert done.exit_code == 0 and "\x1b" not in done.stdout and len(lines) == 2, done.output
    assert lines[0].startswith("extra ") and not [line for line in lines if line.startswith("out:")]


def test_other_files_are_seen_wherever_they_lie(out: Path, tmp_path: Path) -> None:
    """In a folder that is a link, in one that is too deep to be entered, and in one that may not be read."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "frr.conf").write_text("")
    (out / "frr").symlink_to(tmp_path / "elsewhere")
    done = tdsl("verify", out, "--strict")
    assert done.exit_code == 1 and f"extra    {out.as_posix()}/frr\n" in done.stdout, done.output
    (out / "frr").unlink()
    at = os.open(out, os.O_RDONLY)
    for _ in range(3000):  # a path of 6,000 bytes, which no call takes
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(os.open("frr.conf", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
    try:
        done = tdsl("verify", out, "--strict")
        assert done.exit_code == 1 and f"extra    {out.as_posix()}/d/d/d/" in done.stdout, done.output
    finally:
        subprocess.run(["rm", "-rf", str(out / "d")], check=True)
    if os.getuid():  # root reads it
        (out / "closed").mkdir(mode=0)
        done = tdsl("verify", out, "--strict")
        assert done.exit_code == 1 and f"extra    {out.as_posix()}/closed/\n" in done.stdout, done.output


CLUSTER = """\
cluster c {
  host node[2]: DGX_H100
  fabric compute { hosts node.nic; rails 8; clos { leaf QM9700; spine QM9700 } }
  fabric storage { hosts node.storage; clos { leaf QM9700; spine QM9700 } }
}
"""


def test_the_output_of_several_fabrics(tmp_path: Path) -> None:
    """Each folder is that of its fabric; what lies beside them is of no manifest."""
    out = tmp_path / "out"
    done = tdsl("build", write(tmp_path, CLUSTER), "--out", out, "--target", "json")
    assert done.exit_code == 0, done.output
    assert tdsl("verify", out, "--strict").exit_code == 0
    (out / "frr.conf").write_text("")
    (out / "frr").mkdir()
    done = tdsl("verify", out)
    assert done.exit_code == 0 and "extra " in done.stdout and f"{out.as_posix()}/frr/\n" in done.stdout, done.output
    assert tdsl("verify", out, "--strict").exit_code == 1
    (out / "frr.conf").unlink()
    (out / "frr").rmdir()
    for a, b in (("compute", "kept"), ("storage", "compute"), ("kept", "storage")):
        (out / a).rename(out / b)
    done = tdsl("verify", out)
    assert done.exit_code == 1 and "out/compute: this folder is of the fabric storage" in done.stdout, done.output


def test_a_folder_without_its_manifest_is_not_known_by_one_inside(out: Path, tmp_path: Path) -> None:
    """What was built is moved into a folder of the output, or linked there, and other files take its place."""
    inner = out / "small"
    shutil.copytree(out, tmp_path / "small")
    (out / "manifest.json").unlink()
    inner.symlink_to(tmp_path / "small")
    done = tdsl("verify", out)
    assert done.exit_code == 2 and "tdsl did not write this folder" in done.stderr, done.output
    inner.unlink()
    (tmp_path / "small").rename(inner)
    done = tdsl("verify", out)
    assert done.exit_code == 0 and f"extra    {out.as_posix()}/cabling/\n" in done.stdout, done.output
    assert tdsl("verify", out, "--strict").exit_code == 1
    inner.rename(out / "other")
    assert tdsl("verify", out).exit_code == 1
    (out / "manifest.json").mkdir()  # nor where it is something else
    assert tdsl("verify", out).exit_code == 2


@pytest.mark.parametrize("several", [False, True])
def test_names_like_those_of_a_build_hide_nothing(several: bool, tmp_path: Path) -> None:
    """Whoever may write there can give them; `--strict` is for folders of which everything is loaded."""
    out = tmp_path / "out"
    assert tdsl("build", write(tmp_path, SMALL), "--out", out / "small" if several else out, "--target", "slurm").exit_code == 0
    (out / ".tdsl-evil" / "x").mkdir(parents=True)
    (out / ".tdsl-evil" / "x" / "startup.cfg").write_text("evil")
    (out / ".tdsl-link").symlink_to("/etc")
    assert tdsl("verify", out).exit_code == 0
    done = tdsl("verify", out, "--strict")
    assert done.exit_code == 1 and ".tdsl-evil" in done.stdout and ".tdsl-link" in done.stdout, done.output
