"""The policy of NVIDIA's Network Operator: adapters that pods share, a resource for each rail."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tdsl.emit.quote import single_line_text
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The document; nothing where adapters have no rail, or no name, for which the target is skipped, and
    where names differ by the model of hosts: a cluster has one such policy, which selects by names alone."""
    rails = fabric.rail_devices
    if isinstance(rails, str) or any(r.host_model for r in rails):
        return b""
    resources = [
        {
            "resourcePrefix": "rdma",
            "resourceName": f"rail{r.rail}",
            "rdmaHcaMax": options["shares"],
            "selectors": {"ifNames": list(r.names)},
        }
        for r in rails
    ]

    def image(name: str) -> dict[str, object]:
        return {"image": name, "repository": options["repository"], "version": options["version"]}

    document = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},
        "spec": {
            "rdmaSharedDevicePlugin": {
                **image("k8s-rdma-shared-dev-plugin"),
                "config": json.dumps({"configList": resources}),
            },
            "secondaryNetwork": {"cniPlugins": image("plugins"), "multus": image("multus-cni")},
        },
    }
    return f"# {single_line_text(fabric.title)}\n{json.dumps(document, indent=2)}\n".encode()
