"""A line that shows how far long work is: in terminals and notebooks; silent where output goes to a file or a pipe."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

WIDTH = 30
# Seconds before the line is first shown, and between two changes of it.
PATIENCE = 0.5
EVERY = 0.1


class Progress:
    """How much of `total` is done. Used in a `with` block, which ends the line.

    wanted: True shows it in any case, False never, None on a terminal and in notebooks.

    >>> with Progress("simulations", 4, False) as progress:
    ...     progress.update(3)
    >>> print(progress.line())
    simulations  75% |██████████████████████▌       | 3/4
    """

    def __init__(self, what: str, total: int, wanted: Optional[bool] = None, done: int = 0) -> None:
        self.what, self.total, self.done = what, total, done
        self._before, self._began = done, time.monotonic()
        self._drawn_at = self._began + PATIENCE - EVERY
        self._drawn = 0
        self._place = None if wanted is False else _place(wanted)

    def update(self, more: int = 1) -> None:
        """So many more are done."""
        self.reach(self.done + more, self.total)

    def reach(self, done: int, total: int) -> None:
        """So many of `total` are done."""
        self.done, self.total = done, total
        now = time.monotonic()
        if self._place is not None and now - self._drawn_at >= EVERY:
            self._drawn_at, self._drawn = now, self._place.show(self.line(now - self._began), self._drawn)

    def line(self, seconds: float = 0.0) -> str:
        """What is shown: the share, a bar, the numbers, and the time it took and will take."""
        share = min(1.0, self.done / self.total) if self.total > 0 else 0.0
        eighths = int(share * WIDTH * 8)
        bar = ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8])[:WIDTH].ljust(WIDTH)
        text = f"{self.what} {100 * share:3.0f}% |{bar}| {self.done}/{self.total}"
        made = self.done - self._before
        if seconds <= 0.0:
            return text
        left = "?" if made <= 0 else _clock(seconds * max(0, self.total - self.done) / made)
        return f"{text} [{_clock(seconds)}<{left}]"

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._place is not None and self._drawn:
            self._place.end(self.line(time.monotonic() - self._began), self._drawn)
            self._drawn = 0


class _Terminal:
    """One line of stderr that is written over, and cleared in the end."""

    def show(self, line: str, before: int) -> int:
        sys.stderr.write("\r" + line.ljust(before))
        sys.stderr.flush()
        return len(line)

    def end(self, line: str, before: int) -> None:
        sys.stderr.write("\r" + " " * before + "\r")
        sys.stderr.flush()


class _Notebook:
    """An output of the cell that is replaced, and keeps the last line."""

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None

    def show(self, line: str, before: int) -> int:
        said = {"text/plain": line}
        if self._handle is None:
            self._handle = self._display(said, raw=True, display_id=True)
        else:
            self._handle.update(said, raw=True)
        return len(line)

    def end(self, line: str, before: int) -> None:
        self.show(line, before)


def _place(wanted: Optional[bool]) -> Any:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    if found is not None and hasattr(found, "kernel"):
        from IPython.display import display

        return _Notebook(display)
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return _Terminal() if wanted or is_terminal else None


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return (f"{hours}:" if hours else "") + f"{minutes:02d}:{whole % 60:02d}"
