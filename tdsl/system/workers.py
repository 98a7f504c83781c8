"""Independent pieces of work on several processes, or on the machines of a cluster: the same results as one
by one.

A process that the system ends (for want of memory, say) loses nothing: what it had is done again.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from tdsl.system import scratch
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.signals import hold_signals

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH_S = 3
PR_SET_PDEATHSIG = 1
"""Of Linux' prctl: a signal for the process when the one that started it ends."""
TRIES = 3
"""How often processes may be ended without a result in between."""


class WorkersEnded(Exception):
    """Processes were ended again and again, or the cluster cannot be reached."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where work is done: ``jobs`` processes here, all cores if 0; or, with an address such as
    ``tcp://10.0.0.1:8786``, the cluster of Dask whose scheduler listens there."""

    jobs: int = 1
    cluster: str = ""

    @property
    def count(self) -> int:
        """Processes here."""
        return self.jobs or os.cpu_count() or 1

    def worth(self, seconds: float) -> bool:
        """Whether to give work away that takes so long here: each process begins with a second of its own."""
        return bool(self.cluster) or (self.count > 1 and seconds > WORTH_S)

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """``work`` of every item, in their order. ``work``, items and results must be such that pickle can
        send them. Raises what ``work`` raises, and WorkersEnded."""
        if self.cluster:
            yield from _results_on_cluster(self.cluster, work, items)
        elif self.count < 2 or len(items) < 2:
            yield from map(work, items)
        else:
            # A new interpreter each: threads of numerical libraries do not outlive a fork.
            yield from _results_on_processes(min(self.count, len(items)), work, items, "spawn")

    def results_of_copies(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """`results` by copies of this process, which have all that it has in memory: nothing is sent but
        items and results. ``work`` may be any function, but one that needs threads of this process (numerical
        libraries have some). On systems where copies are not safe, one by one."""
        if not sys.platform.startswith("linux") or self.count < 2 or len(items) < 2:
            yield from map(work, items)
            return
        global _copied
        before, _copied = _copied, work
        try:
            yield from _results_on_processes(min(self.count, len(items)), _run_copied_work, items, "fork")
        finally:
            _copied = before


_copied: Callable[[Any], Any] | None = None
"""The work of copies of this process."""


def _run_copied_work(item: Any) -> Any:
    assert _copied is not None
    return _copied(item)


def _results_on_processes(
    count: int, work: Callable[[Item], Result], items: Sequence[Item], method: str
) -> Iterator[Result]:
    with _workers_ended_together(), scratch.scratch_folder() as folder:
        yield from _results_through_files(count, partial(_store_result, folder, work), items, method)


@contextmanager
def _workers_ended_together() -> Iterator[None]:
    """Where SIGTERM or SIGHUP would end this process, have it end the others first, and remove what they hand
    over."""
    from multiprocessing import active_children

    owner, others = os.getpid(), set(active_children())

    def end(number: int, frame: object) -> None:
        if os.getpid() == owner:  # not a copy that has just begun
            mine = set(active_children()) - others
            for child in mine:
                child.kill()
            for child in mine:
                child.join(1)
            scratch.remove_scratch_folders()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    end.ends = True  # type: ignore[attr-defined]  # for `hold_signals`, in which it waits
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: dict[int, Any] = {}
    with suppress(ValueError):  # not the main thread
        for number in numbers:
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        with suppress(ValueError):
            for number, handler in before.items():
                signal.signal(number, handler)


def _store_result(folder: str, work: Callable[[Item], Result], item: Item) -> str:
    """The file with the result. A pipe takes its name in one piece: a process that ends while it writes to
    one leaves a part of a message, and who reads that waits for ever."""
    return scratch.write_for_other_process(folder, pickle.dumps(work(item), pickle.HIGHEST_PROTOCOL))


def _results_through_files(
    count: int, work: Callable[[Item], str], items: Sequence[Item], method: str
) -> Iterator[Any]:
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    done, ended = 0, 0
    start = partial(_exit_with_parent, os.getpid()) if sys.platform.startswith("linux") else _ignore_interrupt
    while done < len(items):
        pool = ProcessPoolExecutor(min(count, len(items) - done), get_context(method), initializer=start)
        others = set(active_children())
        try:
            with (
                hold_signals()
            ):  # Python drops an exception that a signal raises where it makes a copy of the process
                futures: list[Future[str]] = [pool.submit(work, item) for item in items[done:]]
            for future in futures:
                yield pickle.loads(scratch.take_over(future.result()))
                done, ended = done + 1, 0
        except BrokenProcessPool:
            ended += 1
            count = max(count // 2, 1)  # memory may be what is short
            if ended >= TRIES:
                why = (
                    f"processes were ended {TRIES} times without a result; is memory short? `--jobs 1` "
                    "needs the least"
                )
                raise WorkersEnded(why) from None
        except BaseException:  # Ctrl-C, or who asked wants no more
            for child in set(active_children()) - others:
                child.kill()  # one that has only begun notes the signals that this process notes
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _ignore_interrupt() -> None:
    """Leave Ctrl-C, which all processes of a terminal get, to the one that gives out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _exit_with_parent(parent: int) -> None:
    """The same in a process that also ends when the other does, by SIGKILL too, and on SIGTERM and SIGHUP at
    once."""
    import ctypes

    _ignore_interrupt()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before it could be said
        os._exit(1)


def _results_on_cluster(
    address: str, work: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[Result]:
    from importlib import import_module

    try:
        connect: Any = import_module("distributed").Client
    except ModuleNotFoundError:
        raise WorkersEnded("a cluster needs the package distributed: pip install 'tdsl[cluster]'") from None
    try:
        client: Any = connect(address, timeout="5s", set_as_default=False)
    except (OSError, ValueError) as wrong:
        raise WorkersEnded(f"no scheduler of Dask answers at {address}: {wrong}") from None
    with client:
        # Not pure: equal calls are not taken for one, and no result of an earlier run is used again.
        for future in client.map(work, list(items), pure=False, retries=TRIES):
            yield future.result()
