"""Imports a folder of files into a Nautobot as its job "Import Objects" and its REST API do, and undoes it.

Run by Nautobot's Python with the folder of its nautobot_config.py and that of the files. Prints what Nautobot said and
counted, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

MODELS = {
    "6-racks": "dcim.rack", "7-devices": "dcim.device", "8-interfaces": "dcim.interface", "8a-rear-ports": "dcim.rearport",
    "8b-front-ports": "dcim.frontport", "9-prefixes": "ipam.prefix", "9a-ip-addresses": "ipam.ipaddress",
}  # fmt: skip
"""What each file of new objects has rows of, as the job asks for it."""


def main(root: str, folder: Path) -> dict[str, Any]:
    """Errors by file, and the numbers of objects that the files add."""
    os.environ["NAUTOBOT_ROOT"] = root
    import nautobot  # type: ignore[import-not-found, unused-ignore]

    nautobot.setup(str(Path(root) / "nautobot_config.py"))
    from django.apps import apps  # type: ignore[import-not-found, unused-ignore]
    from django.contrib.auth import get_user_model  # type: ignore[import-not-found, unused-ignore]
    from django.db import transaction  # type: ignore[import-not-found, unused-ignore]
    from nautobot.core.api.parsers import NautobotCSVParser  # type: ignore[import-not-found, unused-ignore]
    from nautobot.core.api.utils import get_serializer_for_model  # type: ignore[import-not-found, unused-ignore]
    from nautobot.users.models import Token  # type: ignore[import-not-found, unused-ignore]
    from rest_framework.test import APIClient  # type: ignore[import-not-found, unused-ignore]

    told: dict[str, Any] = {"errors": {}, "added": {}}

    def named(label: str) -> Any:
        return apps.get_model(label)

    with transaction.atomic():
        user = get_user_model().objects.create_superuser("importer", "importer@example.com", "importer")
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.create(user=user).key}")

        def send(method: str, path: str, body: object = None) -> Any:
            """What load.py asks of the REST API."""
            kind = "text/csv" if isinstance(body, str) else "application/json"
            data = {} if body is None else {"data": body if isinstance(body, str) else json.dumps(body), "content_type": kind}
            answer = client.generic(method, f"/api/{path}", **data, HTTP_ACCEPT="application/json")
            if answer.status_code >= 300:
                told["errors"].setdefault("load.py", []).append([method, path, str(body)[:300], answer.content.decode()[:500]])
                return {"results": []}
            return json.loads(answer.content)

        load = runpy.run_path(str(folder / "load.py"))
        named("dcim.manufacturer").objects.get_or_create(name="NVIDIA")  # which others have imported
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(2):  # the second time there is nothing to add
                load["load_shared"](folder, send)
        for file, label in MODELS.items():
            path = folder / f"{file}.csv"
            if not path.exists():
                continue
            made, serializer_class = 0, get_serializer_for_model(named(label))
            rows = NautobotCSVParser().parse(
                stream=io.BytesIO(path.read_bytes()), parser_context={"request": None, "serializer_class": serializer_class}
            )
            for number, row in enumerate(rows, start=1):  # as nautobot/core/jobs/__init__.py, ImportObjects
                serializer = serializer_class(data=row, context={"request": None})
                if serializer.is_valid():
                    serializer.save()
                    made += 1
                else:
                    told["errors"].setdefault(path.name, []).append([number, row, str(serializer.errors)])
            told["added"][file] = made
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(2):
                load["load_rest"](folder, send)
        interfaces = named("dcim.interface").objects
        cabled = [i for i in interfaces.all() if i.cable is not None]
        told["templates"] = named("dcim.interfacetemplate").objects.count()
        told["interfaces"], told["cables"], told["cabled"] = interfaces.count(), named("dcim.cable").objects.count(), len(cabled)
        told["reached"] = sum(bool(i.path) and i.path.destination is not None for i in cabled)
        told["devices"] = sorted(named("dcim.device").objects.values_list("name", flat=True))
        told["placed"] = named("dcim.device").objects.filter(rack__isnull=False, position__isnull=False).count()
        told["primary"] = named("dcim.device").objects.filter(primary_ip4__isnull=False).count()
        told["assigned"] = named("ipam.ipaddresstointerface").objects.count()
        told["managed"] = interfaces.filter(mgmt_only=True).count()
        transaction.set_rollback(True)
    return told


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
