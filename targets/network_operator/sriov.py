"""Policies of the SR-IOV Network Operator: virtual functions of the adapters, a resource for each rail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tdsl.emit.quote import dns_host_name, kubernetes_label
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> Iterator[bytes]:
    """A document for each rail, and where names differ for each model of hosts; nothing where the target is
    skipped."""
    rails = fabric.rail_devices
    if isinstance(rails, str):
        return
    taken: dict[str, str] = {}
    mtus = sorted({int(str(m)) for m in fabric.links.column("mtu") if m})
    for r in rails:
        spec = {
            "resourceName": f"rail{r.rail}",
            "nodeSelector": {
                "feature.node.kubernetes.io/pci-15b3.present": "true",
                **({"tdsl/host-model": kubernetes_label(r.host_model)} if r.host_model else {}),
            },
            "nicSelector": {"vendor": "15b3", "pfNames": list(r.names)},
            "numVfs": options["functions"],
            "deviceType": "netdevice",
            "isRdma": True,
            "linkType": "eth",
            **({"mtu": mtus[0]} if len(mtus) == 1 else {}),
        }
        name = dns_host_name(f"{r.host_model}-rail{r.rail}".replace("_", "-").strip("-"), taken)
        document = {
            "apiVersion": "sriovnetwork.openshift.io/v1",
            "kind": "SriovNetworkNodePolicy",
            "metadata": {"name": name, "namespace": "nvidia-network-operator"},
            "spec": spec,
        }
        yield f"---\n{json.dumps(document, indent=2)}\n".encode()
