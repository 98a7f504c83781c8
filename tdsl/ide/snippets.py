"""Statements to begin with, as snippets: `$1` and `${1:word}` are places to fill in."""

from __future__ import annotations

TOP = {
    "fabric": "fabric ${1:name} {\n  host node[${2:16}]: ${3:HOST_MODEL}\n  switch leaf[${4:8}]: "
    "${5:SWITCH_MODEL}\n"
    "  connect node[n].nic[r] to leaf[r]\n  require reachability\n}",
    "model": 'model switch ${1:NAME} {\n  port p[1..${2:64}]: ${3:400Gbps}\n  source "${4:data sheet}"\n}',
}
"""At the top of a file."""
INSIDE = {
    "host": "host ${1:node}[${2:16}]: ${3:HOST_MODEL}",
    "switch": "switch ${1:leaf}[${2:8}]: ${3:SWITCH_MODEL}",
    "group": "group ${1:su}[${2:4}] {\n  $0\n}",
    "connect": "connect ${1:leaf}[*] to ${2:spine}[*] spread x ${3:16}",
    "param": "param ${1:units}: int = ${2:4} where ${3:1 <= units <= 8}",
    "require": "require ${1:oversubscription} <= ${2:1:1}",
    "hosts": "hosts ${1:64} x ${2:HOST_MODEL}",
    "naming": 'naming ${1:su[s].leaf[r]} "${2:su{s\\}-leaf{r\\}}"',
}
"""In the block of a fabric or a group."""
