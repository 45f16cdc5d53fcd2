"""Units of work in, measurements out: what is in the cache is taken from there, the rest is run in processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from covote.datasets import KNOWN, dataset_path
from covote.errors import CovoteError
from covote.experiments.cache import ResultCache
from covote.experiments.crowds import CrowdSetting
from covote.experiments.measure import Measurement, measure_all
from covote.experiments.settings import PRESETS

Progress = Callable[[int, int, str], None]
"""Called as `progress(measurements done, measurements in all, what was measured last)`."""

Options = dict[str, dict[str, Any]]
Work = tuple[tuple[CrowdSetting, Options], ...]
"""What one process does in one go: crowds, and on each the methods with their options."""

_SINGLE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Unit:
    """Methods of one preset on one crowd, for one panel of an experiment."""

    panel: str
    crowd: CrowdSetting
    preset: str
    methods: tuple[str, ...]

    def settings(self, method: str) -> dict[str, Any]:
        """All that decides the measurement of one method."""
        options = PRESETS[self.preset].get(method, {})
        data = _data_fingerprint(self.crowd.dataset) if self.crowd.kind in ("amt", "uci") else ""
        return {"crowd": asdict(self.crowd), "method": method, "options": options, "data": data}


@dataclass(frozen=True)
class Measured:
    """A measurement with what was measured."""

    unit: Unit
    method: str
    measurement: Measurement


def run_units(
    units: Sequence[Unit],
    *,
    jobs: int = 1,
    cache: ResultCache | None = None,
    progress: Progress | None = None,
) -> list[Measured]:
    """Measure every method of every unit, in `jobs` processes.

    Units of the same crowd and method are measured once. With a cache, what is measured is kept at once, so that a
    run that is stopped goes on where it was.
    """
    wanted = {_key(u, m): u.settings(m) for u in units for m in u.methods}
    done: dict[Any, Measurement] = {}
    for key, settings in wanted.items():
        before = cache.get(settings) if cache is not None else None
        if before is not None:
            done[key] = Measurement(**before)
    if progress is not None:
        progress(len(done), len(wanted), "")
    for setting, preset_of, results in _carry_out(_work(units, done), jobs):
        for method, measurement in results.items():
            key = (setting, method, _frozen(preset_of[method]))
            done[key] = measurement
            if cache is not None and not measurement.failure.startswith("no crowd"):
                cache.add(wanted[key], measurement.as_json())
        if progress is not None:
            progress(len(done), len(wanted), describe(setting))
    return [Measured(u, m, done[_key(u, m)]) for u in units for m in u.methods]


def describe(setting: CrowdSetting) -> str:
    """A crowd in few words.

    >>> describe(CrowdSetting("uci", "adult", 0.5, trial=3))
    'adult 0.5 #4'
    """
    level = "" if setting.level is None else f" {setting.level:g}"
    return f"{setting.dataset}{level}" + ("" if setting.kind == "amt" else f" #{setting.trial + 1}")


def _work(units: Sequence[Unit], done: Mapping[Any, Measurement]) -> list[Work]:
    """What is still to do. Crowds that share trained classifiers stay together; methods on an AMT set are split."""
    todo: dict[CrowdSetting, dict[Any, tuple[str, dict[str, Any]]]] = {}
    for unit in units:
        for method in unit.methods:
            key = _key(unit, method)
            if key not in done:
                todo.setdefault(unit.crowd, {})[key] = (method, PRESETS[unit.preset].get(method, {}))
    work: list[Work] = []
    for (kind, _, _), group in groupby(todo, lambda s: (s.kind, s.dataset, s.trial)):
        settings = list(group)
        if kind == "uci":
            work.append(tuple((s, options) for s in settings for options in _layers(todo[s].values())))
        elif kind == "amt":
            work.extend((((s, {method: options}),)) for s in settings for method, options in todo[s].values())
        else:
            work.extend((((s, options),)) for s in settings for options in _layers(todo[s].values()))
    return work


def _layers(pairs: Any) -> list[Options]:
    """(method, options) pairs as mappings; a method that comes with two sets of options needs two."""
    layers: list[Options] = []
    for method, options in pairs:
        layer = next((one for one in layers if method not in one), None)
        if layer is None:
            layers.append(layer := {})
        layer[method] = options
    return layers


def _carry_out(work: Sequence[Work], jobs: int) -> Iterator[tuple[CrowdSetting, Options, dict[str, Measurement]]]:
    if jobs <= 1 or len(work) <= 1:
        for one in work:
            yield from _do(one)
        return
    with _single_threads(), ProcessPoolExecutor(min(jobs, len(work)), mp_context=get_context("spawn")) as pool:
        futures: list[Future[Any]] = [pool.submit(_do, one) for one in work]
        try:
            for future in as_completed(futures):
                yield from future.result()
        except BrokenProcessPool as error:
            msg = "A process was ended from outside, perhaps for want of memory. Try --jobs 1: results so far are kept."
            raise CovoteError(msg) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _do(work: Work) -> list[tuple[CrowdSetting, Options, dict[str, Measurement]]]:
    return [(setting, options, measure_all(setting, options)) for setting, options in work]


@contextmanager
def _single_threads() -> Iterator[None]:
    """Processes started inside use one thread each: the cores are shared out already."""
    before = {name: os.environ.get(name) for name in _SINGLE_THREAD}
    os.environ.update(dict.fromkeys(_SINGLE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _key(unit: Unit, method: str) -> Any:
    return (unit.crowd, method, _frozen(PRESETS[unit.preset].get(method, {})))


def _frozen(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(options.items()))


def _data_fingerprint(name: str) -> str:
    """A hash of the files of a data set, or a word where it is not here."""
    try:
        return _folder_fingerprint(name, dataset_path(name))
    except CovoteError:
        return "absent"


@lru_cache(maxsize=32)
def _folder_fingerprint(name: str, folder: Path) -> str:
    digest = hashlib.sha256()
    for file in KNOWN[name].files:
        digest.update((folder / Path(file.path).name).read_bytes())
    return digest.hexdigest()[:16]
