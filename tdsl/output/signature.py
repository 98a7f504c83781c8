"""Signatures of manifests, made and judged by OpenSSH's ``ssh-keygen -Y`` (ssh-keygen(1), PROTOCOL.sshsig).

A manifest has the hash of every file, so who signs it signs the whole output. The signature is a file beside
the manifest. Keys are those of ssh; a file of allowed signers says who may sign, a line each: ``name
namespaces="tdsl" ssh-ed25519 AAAA…``.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tdsl.emit.build import MANIFEST

SIGNATURE = f"{MANIFEST}.sig"
NAMESPACE = "tdsl"
PROGRAM = "ssh-keygen"
LARGEST = 1 << 16
"""Bytes of a signature that are read at most."""
LARGEST_KEYS = 1 << 20
"""Bytes of a key, or of a file of allowed signers."""
SECONDS = 60
BEGIN = b"-----BEGIN SSH SIGNATURE-----"


class Unsigned(Exception):
    """Why there is no signature, or none that counts."""


class NoProgram(Exception):
    """There is no ``ssh-keygen``."""


def sign_manifest(manifest: bytes, key: Path) -> bytes:
    """The signature of a manifest by a private key, or a public one whose private half an agent has.
    ``ssh-keygen`` asks on the terminal for a passphrase. Raises Unsigned and NoProgram."""
    _refuse_unreadable_key(key)
    done = _run_ssh_keygen(["-Y", "sign", "-f", str(key.absolute()), "-n", NAMESPACE], manifest, None)
    if done.returncode or not done.stdout.startswith(BEGIN):
        raise Unsigned(_ssh_keygen_error(done))
    return done.stdout


def signer_of_manifest(manifest: bytes, signature: bytes, allowed: Path) -> str:
    """Who, of those that a file of allowed signers lists, signed a manifest. Raises Unsigned and
    NoProgram."""
    _refuse_unreadable_key(allowed)
    with TemporaryDirectory(prefix="tdsl-") as folder:
        place = Path(folder) / SIGNATURE
        place.write_bytes(signature)
        common = ["-f", str(allowed.absolute()), "-s", str(place)]
        found = _run_ssh_keygen(["-Y", "find-principals", *common], b"", SECONDS)
        names = found.stdout.decode("utf-8", "replace").splitlines()
        if found.returncode or not names:
            raise Unsigned(f"the key that signed it is not among the allowed signers of {allowed}")
        done = _run_ssh_keygen(["-Y", "verify", *common, "-I", names[0], "-n", NAMESPACE], manifest, SECONDS)
        if done.returncode:
            raise Unsigned(f"the signature is not of this manifest, or not for it: {_ssh_keygen_error(done)}")
        return names[0]


def _refuse_unreadable_key(path: Path) -> None:
    """Refuse what ssh-keygen would wait for, or read without an end."""
    try:
        facts = os.stat(path)
    except OSError as fault:
        raise Unsigned(f"{path}: {fault.strerror}") from None
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_KEYS:
        raise Unsigned(f"{path}: it is not a regular file of at most {LARGEST_KEYS >> 20} MiB")


def _run_ssh_keygen(
    args: list[str], given: bytes, seconds: float | None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [PROGRAM, *args], input=given, capture_output=True, timeout=seconds, check=False
        )
    except FileNotFoundError:
        raise NoProgram(f"signatures need {PROGRAM}: install OpenSSH (Debian: openssh-client)") from None
    except subprocess.TimeoutExpired:
        raise Unsigned(f"{PROGRAM} did not answer within {SECONDS} s") from None


def _ssh_keygen_error(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"{PROGRAM} ended with status {done.returncode}"
