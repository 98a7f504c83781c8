"""One fault planted in each design of the library is refused, at the line that it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import report
from tests.harness import each, share

DESIGNS = Path(__file__).parent.parent.parent / "stdlib" / "designs"

FAULTS = [
    # design, what is written, what is planted instead, the code, a part of the line where it is found
    ("dgx_superpod_h100", "switch spine[?]: QM9700", "switch spine[15]: QM9700", "E0454", "spread"),
    ("dgx_superpod_h100_racks", "at 2U + 8U*(n%4)", "at 2U + 6U*(n%4)", "E0222", "place su"),
    ("dgx_superpod_b200", "rails 8", "rails 7", "E0120", "rails"),
    ("dgx_superpod_b200_racks", "at 2U + 12U*(n%2)", "at 2U + 9U*(n%2)", "E0222", "place host"),
    ("gb200_su_racks", "+ 9U*(t//8)", "- 1U*(t//8)", "E0222", "place rack"),
    ("tpu_v4_racks", "row A, B { rack 1..16", "row A, B { rack 1..15", "E0205", "place cube"),
    ("llama3_pod_racks", "n//2 % 16 + 1]", "n//2 % 17 + 1]", "E0205", "place host"),
    ("alibaba_hpn_racks", "rack 1..18", "rack 1..17", "E0205", "place node"),
    ("dgx_superpod_b300_spectrum_x", "planes 2", "planes 4", "E0120", "planes"),
    ("dgx_superpod_b300_xdr", "su of 72 hosts", "su of 96 hosts", "E0459", "tier"),
    ("dgx_superpod_a100", "core[28]", "core[27]", "E0454", "to core"),
    ("gb200_nvl72", "tray[18]", "tray[17]", "E0421", "require links"),
    ("gb200_su", "to leaf[r, (18*k + t)//32]", "to leaf[(r + t//17) % 4, (18*k + t)//32]", "E0403", "to leaf"),
    ("dgx_gh200", "spread x 48", "spread x 36", "E0408", "require bisection"),
    ("nvlink_576", "connect low[*] to high[*]", "connect low[*] to plane[0].high[*]", "E0452", "connect low"),
    ("llama3_24k", "oversubscription at most 7:1", "oversubscription 7:1", "E0460", "tier pod"),
    ("deepseek_v3_2048", "planes 8", "planes 4", "E0120", "planes"),
    ("deepseek_mpft", "oversubscription 1:1", "oversubscription 2:1", "E0408", "require bisection"),
    ("ft2", "SW64x400 x k//2;", "SW64x400 x k//2 - 1;", "E0459", "tier spine"),
    ("ft3", "k (k)", "k (k + 1)", "E0459", "fat_tree"),
    ("deepseek_dragonfly", "groups 511", "groups 512", "E0421", "require links"),
    ("tpu_v4", "chip[3, y, z].ici[0]", "chip[2, y, z].ici[0]", "E0451", "via ocs[0"),
    ("tpu_v5p", "chip[16x20x28]", "chip[16x20x27]", "E0421", "require links"),
    ("tpu_v3", "chip[32x32]", "chip[32x33]", "E0421", "require links"),
    ("tpu_v2", "torus { class", "mesh { class", "E0407", "require diameter"),
    ("jupiter", "let demand = [0, 44", "let demand = [0, 45", "E0452", "circuit"),
    ("aws_p5", "rails 32", "rails 31", "E0120", "rails"),
    ("trn2", "[*] torus", "[*] mesh", "E0421", "require links"),
    ("trn2_ultraserver", "4x4x4", "3x4x4", "E0421", "require links"),
    ("dragonfly", "let groups = 2*h*h + 1", "let groups = 2*h*h + 2", "E0421", "require links"),
    ("torus3d", "[*] torus", "[*] mesh", "E0407", "require diameter"),
    ("rail_only", "  require rail", "  connect host[0].storage[0] to rail[0].p[1]\n  require rail", "E0451", "rail[0]"),
    ("multiplane_nic", "spread x hosts", "spread x hosts//2", "E0405", "require oversubscription"),
    ("gpu131k", "trunk[32]", "trunk[31]", "E0107", "via trunk"),
    ("imbue_4088", "of 4 pod ", "of 5 pod ", "E0459", "tier core"),
    ("two_sites", "gateway x 8", "gateway x 7", "E0421", "require links"),
    ("alibaba_hpn", "tor[s, r].down", "tor[s, (r + n//128) % 8].down", "E0403", "connect node"),
    ("megascale", "down p[1..32]", "down p[1..31]", "E0459", "tier set"),
    ("frontier", "trunk 4", "trunk 3", "E0421", "require links"),
    ("aurora", "groups 175", "groups 174", "E0423", "require switches"),
    ("oci_supercluster", "OCI_SWITCH x 4", "OCI_SWITCH x 2", "E0459", "tier"),
    ("ironwood", "16x24x24", "16x24x25", "E0110", "torus"),
    ("slim_fly_cscs", "q 5", "q 4", "E0421", "require links"),
    ("cloudmatrix384", "low[7]", "low[6]", "E0107", "to high"),
    ("superpod_cluster", "spine QM9700; oversubscription 1:1", "spine QM9700; oversubscription 2:1", "E0408", "bisection"),
]  # fmt: skip


SLOW = ("aurora", "deepseek_dragonfly", "gpu131k")
QUICK = [f for f in FAULTS if f[0] not in SLOW]
SHARES = 3


def is_refused(fault, folder):
    """The design with its planted fault has the finding at the line that it breaks."""
    name, old, new, code, line = fault
    text = (DESIGNS / f"{name}.fab").read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path = folder / f"{name}.fab"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = [f for d in report(path)["designs"] for f in d["findings"] if f["severity"] == "error"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert code in {f["code"] for f in found if line in lines[f["line"] - 1]}, found


@pytest.mark.parametrize("number", range(SHARES))
def test_planted_faults_are_refused_at_their_lines(number, tmp_path):
    each(share(QUICK, number, SHARES), lambda fault: is_refused(fault, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_fault_planted_in_a_large_design_is_refused_at_its_line(name, tmp_path):
    is_refused(next(f for f in FAULTS if f[0] == name), tmp_path)


def test_every_design_has_one():
    assert {f[0] for f in FAULTS} == {p.stem for p in DESIGNS.glob("*.fab")}
