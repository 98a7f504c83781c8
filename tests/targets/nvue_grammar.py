"""A judge of YAML by the NVUE commands that tdsl uses, which nvue_grammar.txt has as NVIDIA's documentation lists them.

Words stand for themselves, ``(a|b)`` for one of them, ``1-128`` for a number of that range, ``<name>`` for what ``KINDS`` says.
The YAML that ``nv config replace`` takes is the tree of ``nv set`` commands: each key is a word, the last a value or ``{}``.
All pages are of docs.nvidia.com/networking-ethernet-software, ``CL`` stands for ``cumulus-linux-5x``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface, ip_address, ip_interface, ip_network
from pathlib import Path


def _parses(read: Callable[[str], object]) -> Callable[[str], bool]:
    def holds(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return holds


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


INTERFACE = r"swp[1-9]\d*(s[0-7])?|bond[1-9]\d*|eth\d+|lo|vlan[1-9]\d*"
KINDS: dict[str, Callable[[str], bool]] = {
    "interface-id": _matches(INTERFACE),
    # CL/Layer-1-and-Switch-Ports/Interface-Configuration-and-Management: 256 characters, no apostrophes, ASCII only
    "description": _matches(r"[ -&(-~]{1,256}"),
    "hostname": _matches(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"),
    "generic-name": _matches(r"[A-Za-z][A-Za-z0-9._-]{0,62}"),
    "afi": _matches(r"ipv[46]-unicast"),
    "rule-id": _matches(r"[1-9]\d{0,9}"),
    "bytes": _matches(r"[1-9]\d*"),
    "ip-prefix": _parses(ip_interface),
    "ipv4-prefix": _parses(IPv4Interface),
    "ipv6-prefix": _parses(IPv6Interface),
    "ip-network": _parses(ip_network),
    "ipv4": _parses(IPv4Address),
    "ip": _parses(ip_address),
    "host": _matches(r"[A-Za-z0-9.:-]{1,253}"),
    "mac": _matches(r"([0-9a-f]{2}:){5}[0-9a-f]{2}"),
    "secret": _matches(r"[!-&(-~]{1,128}"),
    "message": _matches(r"[ -&(-~\n]{1,4000}"),
    "neighbor-id": lambda text: _matches(INTERFACE)(text) or _parses(ip_address)(text),
}
LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
GRAMMAR = [line.split(" ") for line in LINES if not line.startswith("#")]
CHANGES = Path(__file__).with_name("nvue_grammar_515.txt").read_text(encoding="utf-8").splitlines()


def grammar_of_515() -> list[list[str]]:
    """The grammar of 5.15 and 5.16: that of earlier releases with NVIDIA's list of changes."""
    changed = dict(line.split(" =>") for line in CHANGES if not line.startswith("#"))
    lines = []
    for words in GRAMMAR:
        line = " ".join(words)
        if line in changed:
            lines += [new.strip() for new in changed[line].split(";") if new.strip()]
        else:
            lines.append(
                re.sub(r" enable \(on\|off\)$", " state (enabled|disabled)", line).replace("(on|off", "(enabled|disabled")
            )
    return [line.split(" ") for line in dict.fromkeys(lines)]


GRAMMAR_515 = grammar_of_515()


def _takes(token: str, word: str) -> bool:
    """Whether a word of a command fits what the grammar has in its place."""
    if token.startswith("<"):
        return KINDS[token[1:-1]](word)
    if token.startswith("("):
        return word in token[1:-1].split("|")
    if span := re.fullmatch(r"(\d+)-(\d+)", token):
        return word.isdigit() and int(span[1]) <= int(word) <= int(span[2])
    return token == word


def commands(tree: object, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The ``nv set`` commands that a tree of YAML stands for, each as its words."""
    if not isinstance(tree, dict) or not tree:
        yield words if isinstance(tree, dict) else (*words, str(tree))
        return
    for key, below in tree.items():
        yield from commands(below, (*words, str(key)))


def is_command(words: tuple[str, ...], grammar: list[list[str]] = GRAMMAR) -> bool:
    """Whether a grammar has a command of these words."""
    return any(len(line) == len(words) and all(map(_takes, line, words)) for line in grammar)


def wrong(tree: object, grammar: list[list[str]] = GRAMMAR) -> list[str]:
    """Commands that are none."""
    return [" ".join(words) for words in commands(tree) if not is_command(words, grammar)]
