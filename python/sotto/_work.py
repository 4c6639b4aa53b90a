"""Engine work on threads of its own, so that Ctrl-C is heard while the caller waits."""
from __future__ import annotations

import atexit
import threading
from typing import Any, Callable, List, Optional, Protocol, TypeVar
from weakref import WeakSet

from . import _native

T = TypeVar("T")

_SLICE = 0.1  # seconds between looks at pending signals, where waiting itself cannot be interrupted


class _Stoppable(Protocol):
    def stop(self) -> None: ...


_running: "WeakSet[threading.Thread]" = WeakSet()
_stoppable: "WeakSet[Any]" = WeakSet()


def start(work: Callable[[], None], stoppable: Optional[_Stoppable] = None) -> threading.Thread:
    """Runs `work` on a thread that the end of the program waits for, after `stoppable` was told to stop."""
    thread = threading.Thread(target=work, name="sotto", daemon=True)
    _running.add(thread)
    if stoppable is not None:
        _stoppable.add(stoppable)
    thread.start()
    return thread


def wait(event: threading.Event) -> None:
    while not event.wait(_SLICE):
        pass


def interruptibly(function: Callable[[], T]) -> T:
    """The function's answer. After a KeyboardInterrupt nobody waits for it any more."""
    answer: List[T] = []
    problem: List[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            answer.append(function())
        except BaseException as error:
            problem.append(error)
        done.set()

    start(work)
    wait(done)
    if problem:
        raise problem[0]
    return answer[0]


def _finish() -> None:
    for each in list(_stoppable):
        each.stop()
    for thread in list(_running):
        thread.join()
    _native.set_log(None)


atexit.register(_finish)
