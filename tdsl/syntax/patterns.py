"""The patterns of a connect, one record each: the parser, the wiring, `tdsl explain` and the editor read
them.

What lays the links of each is in `tdsl.fabric.wiring.LINKS_OF_PATTERN`.
"""

from __future__ import annotations

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ConnectPattern:
    """``sets`` says how many sets of devices it joins: "one" (no ``to``), "two", or "one or two". ``words``
    may follow it. ``x N`` gives the number of links of each pair, or is one of the pattern's own ``words``.
    """

    name: str
    sets: str
    words: tuple[str, ...]
    meaning: str  # Markdown
    example: str

    @property
    def owns_number(self) -> bool:
        """Whether ``x N`` behind it is its own."""
        return "x" in self.words


CONNECT_PATTERNS: dict[str, ConnectPattern] = {
    p.name: p
    for p in (
        ConnectPattern(
            "each",
            "one or two",
            (),
            "Every device of the first set to every device of the second; without `to`, every pair of one "
            "set.",
            "fabric f { connect leaf[*] to spine[*] each x 2 }",
        ),
        ConnectPattern(
            "spread",
            "one or two",
            ("x", "uneven", "any"),
            "The ports of each device of the first set, distributed evenly over the devices of the second. "
            "`x K` takes K ports of each; without it all free ports are taken. It is an error (E0454) if the "
            "links cannot be distributed evenly, unless `uneven` follows.",
            "fabric f { connect leaf[*] to spine[*] spread x 16 }",
        ),
        ConnectPattern(
            "pairs",
            "two",
            ("shift",),
            "The k-th device of the first set to the k-th of the second; with `shift S` to the one S places "
            "later. Both sets have the same size.",
            "fabric f { connect a[*] to b[*] pairs shift 2 }",
        ),
        ConnectPattern(
            "ring",
            "one",
            (),
            "Each member of one set to the next, and the last to the first.",
            "fabric f { connect a[*] ring }",
        ),
        ConnectPattern(
            "mesh",
            "one",
            (),
            "Each member to the next along every dimension of its indices.",
            "fabric f { connect chip[*] mesh }",
        ),
        ConnectPattern(
            "torus",
            "one",
            (),
            "A mesh whose last member of each dimension is connected to the first, too.",
            "fabric f { connect chip[*] torus { class x, y, z } }",
        ),
        ConnectPattern(
            "random",
            "one",
            ("degree", "seed"),
            "A random regular graph: each member has D links (`degree D`). The same `seed` gives the same "
            "links.",
            "fabric f { connect b[*] random degree 4 seed 7 }",
        ),
    )
}
"""By name, in the order of the documentation."""


def owns_number(name: str) -> bool:
    """Whether ``x N`` behind a pattern of this name, which there may be none of, is the pattern's own."""
    return name in CONNECT_PATTERNS and CONNECT_PATTERNS[name].owns_number
