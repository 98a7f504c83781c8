"""A language server that answers the tests of a file one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lsp.test_server import Shared


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """One server for all conversations of these tests in this process."""
    from tests.lsp.test_server import Shared

    server = Shared(tmp_path_factory.mktemp("server"))
    yield server
    server.close()
