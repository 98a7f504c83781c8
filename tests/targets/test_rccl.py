"""RCCL settings, read as RCCL reads them: split at the first `=`, nothing trimmed, no comments (ROCm/rccl, src/misc/param.cc)."""

from __future__ import annotations

from dataclasses import replace

from tdsl.diagnostic import Diagnostics
from tdsl.emit.build import build
from tests.targets.build import dgx_h100, faced, pod


def settings(text: str) -> dict[str, str]:
    """What RCCL would put into the environment."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_amd_hosts_have_rccl_conf_and_no_file_of_nccl() -> None:
    """The layout says who made the accelerators."""
    base = dgx_h100(2)
    layout = tuple(replace(n, facts={**n.facts, "device": "1002:74a1"}) if n.name == "gpu" else n for n in base.layout)
    fabric = faced(pod(), {"DGX_H100": replace(base, layout=layout)})
    files = build(fabric, ["nccl", "rccl"], Diagnostics())
    assert sorted(files) == ["manifest.json", "rccl/DGX_H100.conf"]
    text = files["rccl/DGX_H100.conf"].decode()
    assert "#" not in text
    assert settings(text) == {"NCCL_IB_HCA": "=mlx5_0,mlx5_3", "NCCL_CROSS_NIC": "2", "NCCL_PXN_DISABLE": "0"}


def test_other_hosts_have_none() -> None:
    assert not [p for p in build(pod(), ["rccl"], Diagnostics()) if p.startswith("rccl/")]
