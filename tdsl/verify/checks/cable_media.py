"""What cables are made of, and how long they are together."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import COPPER, MICRO, cable_medium
from tdsl.physical.stated import stated_lengths
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, Quantity, quantity_text
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, exactly, skipped
from tdsl.verify.result import Value

if TYPE_CHECKING:
    from tdsl.physical.model import Physical

OPTICAL = ("fibre", "aoc", "dwdm")
"""Media of optical cables."""
WORDS = frozenset({"optical", *COPPER, *OPTICAL})
"""Words behind the name of these metrics: a medium, or ``copper`` or ``optical`` for all such."""


def media_of_word(word: str) -> tuple[str, ...]:
    """The media that a word of a requirement means."""
    return COPPER if word == "copper" else OPTICAL if word == "optical" else (word,)


def medium_of_legs(fabric: Fabric, physical: Physical) -> list[str]:
    """The medium of each cable leg, in the order of the fabric: that of its part, else what its connect
    states; "" where neither says one."""
    number, choices = physical.parts.group
    chosen = ["" if c.cable is None else cable_medium(c.cable) for c in choices]
    stated = [str(s.settings.get("medium", "")) for s in fabric.statements]
    rows = zip(number.tolist(), fabric.cable_statement.tolist(), strict=True)
    return [chosen[k] or (stated[s] if stated[s] in WORDS else "") for k, s in rows]


class CablesAsked:
    """The cables of a view, one row each, with medium and length."""

    def __init__(self, view: View) -> None:
        from tdsl.fabric.places import empty_places
        from tdsl.physical.model import Physical, physical_of

        fabric = view.fabric
        physical = physical_of(fabric) or Physical(fabric, empty_places(fabric.device_count))
        legs = np.flatnonzero(view.leg_columns)
        groups, first, cable_of_leg = np.unique(
            fabric.cable_group[legs], return_index=True, return_inverse=True
        )
        media = medium_of_legs(fabric, physical)
        stated = stated_lengths(fabric)
        run = np.where(stated >= 0, stated, physical.lengths.run)[legs]
        self.count = len(groups)
        self.medium = np.array([media[leg] for leg in legs[first].tolist()], dtype=object)
        self.length: Ints = np.full(self.count, -1, dtype=np.int64)  # micrometres, of known legs; -1 unknown
        np.maximum.at(self.length, cable_of_leg.ravel(), run)
        self.certain = np.ones(self.count, dtype=np.bool_)  # else a leg is unknown, and may be the longest
        self.certain[cable_of_leg.ravel()[run < 0]] = False

    def of_medium(self, word: str) -> Bools:
        """Which cables are of what a word means."""
        found: Bools = np.isin(self.medium, np.array(media_of_word(word), dtype=object))
        return found

    @property
    def unknown(self) -> Bools:
        """Which cables say no medium."""
        found: Bools = self.medium == ""
        return found


def word_of_claim(claim: ResolvedClaim | None) -> str:
    """The medium that a requirement names, "" where it names none."""
    return str(claim.args[0]) if claim is not None and claim.args else ""


class FigureOfCables:
    """A check of a figure of the cables plugged into something, of a medium or of all."""

    cost: ClassVar[int] = 0
    on_demand: ClassVar[bool] = True
    of_design: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = frozenset({"of", "to", "args"})
    words: ClassVar[frozenset[str]] = WORDS
    joins: ClassVar[bool] = True

    def judgement_of_cables(self, cables: CablesAsked, word: str) -> Judgement:
        """The figure of one or more cables; ``word`` is the medium, "" for all."""
        raise NotImplementedError

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """The figure of the claim's cables."""
        cables, word = CablesAsked(view), word_of_claim(claim)
        if not cables.count:
            return skipped("there are no cables")
        return self.judgement_of_cables(cables, word)


class CableShare(FigureOfCables, Check):
    """How many of the cables are of a medium.

    ## What it means
    The share of the cables that are of the medium behind the name: `copper` (`dac`, `acc`, `aec`), `optical`
    (`fibre`, `aoc`, `dwdm`), or one of these alone. `of S` asks about the cables plugged into S, `of A to B`
    about those between the two.

    ## Formula and source
    Cables of the medium over all cables. A breakout cable counts once, and each cable of a link through a
    panel. The medium is that of the part in `cables.csv`, else the `medium` that the connect states.

    ## What it assumes
    The parts that are chosen. Where no part is chosen and no medium is stated, the share lies between two
    bounds.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r] { medium dac }
    require cable_share copper of node to leaf >= 100%
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread { medium fibre }     # half of all cables
    require cable_share copper >= 60%
    ```

    ### What it prints
    ```
    E0216: `cable_share copper >= 60%` does not hold: 50%: 8 of 16 cables
    ```
    """

    code = "E0216"
    name = "cable_share"
    wrong = "Another share of a medium than required"
    kind = "fraction"

    def judgement_of_cables(self, cables: CablesAsked, word: str) -> Judgement:
        if not word:
            return skipped("it names no medium: write `cable_share copper`")
        mine, open_ = int(cables.of_medium(word).sum()), int(cables.unknown.sum())
        low, high = Fraction(mine, cables.count), Fraction(mine + open_, cables.count)
        said = f"{mine:,} of {cables.count:,} {noun_for_count(cables.count, 'cable')}"
        if not open_:
            return exactly(low, f"{float(100 * low):.4g}%: {said}")
        text = (
            f"between {float(100 * low):.4g}% and {float(100 * high):.4g}%: {said}, and of {open_:,} no part "
            "is chosen"
        )
        return Judgement("bounded", text, low, low, high, witness={"unknown": open_})


class CablingLength(FigureOfCables, Check):
    """How long all cables are together.

    ## What it means
    The sum of the lengths of the cables, of all or of the medium behind the name: `copper`, `optical`, `dac`,
    `acc`, `aec`, `fibre`, `aoc`, `dwdm`. `of S` asks about the cables plugged into S, `of A to B` about those
    between the two.

    ## Formula and source
    Σ of the `length` that a connect states, else of the way between the ends as they are placed, with slack:
    what `tdsl show FILE length` prints. A breakout cable counts once, with its longest leg.

    ## What it assumes
    The places of the design, and lengths as they run, not as they are sold. Where a length, or with a medium
    the medium, is unknown, the sum is a lower bound: `<=` is then refuted or open, never proved.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread { medium fibre; length 30m }    # eight cables
    require cabling_length fibre <= 240m
    ```

    ## A design that fails
    ```fab
    require cabling_length <= 0.2km
    ```

    ### What it prints
    ```
    E0218: `cabling_length <= 0.2km` does not hold: 264m of 16 cables
    ```
    """

    code = "E0218"
    name = "cabling_length"
    wrong = "More cable than required"
    kind = "quantity"
    unit = "m"
    dim = LENGTH

    def judgement_of_cables(self, cables: CablesAsked, word: str) -> Judgement:
        asked = cables.of_medium(word) if word else np.ones(cables.count, dtype=np.bool_)
        known = cables.length >= 0
        missing = int((asked & ~cables.certain).sum()) + (int(cables.unknown.sum()) if word else 0)
        micrometres = sum(cables.length[asked & known].tolist())
        total = Quantity(Fraction(micrometres, MICRO), LENGTH)
        number = int((asked & known).sum())
        said = f"{quantity_text(total)} of {number:,} {word + ' ' if word else ''}"
        said += noun_for_count(number, "cable")
        if not missing:
            return Judgement("proved", said, total, total, total)
        if not number:
            return skipped(f"no length is known of {missing:,} {noun_for_count(missing, 'cable')}")
        upper: Value = inf
        text = f"at least {said}; {missing:,} have no known length" + (" or medium" if word else "")
        return Judgement("bounded", text, total, total, upper, witness={"missing": missing})
