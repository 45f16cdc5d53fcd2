"""Folders that Hugging Face `datasets` writes: Arrow files of `save_to_disk`, or Parquet files -> their data files."""

from __future__ import annotations

import glob
import os
from typing import Any

from covote.errors import InputError
from covote.importers.columnar import arrow_table


def data_files(folder: str) -> list[str]:
    """The data files of one split, in order; several splits: the user is asked which."""
    names = set(os.listdir(folder))
    if "dataset_dict.json" in names:
        splits = sorted(n for n in names if os.path.isdir(os.path.join(folder, n)))
        msg = f"Folder '{folder}' holds the splits {', '.join(splits)}. Pass one: '{os.path.join(folder, splits[0])}'."
        raise InputError(msg)
    found = sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.arrow"), recursive=True))
    found = [path for path in found if not os.path.basename(path).startswith("cache-")]
    found = found or sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.parquet"), recursive=True))
    splits = sorted({os.path.basename(path).split("-0")[0].removesuffix(".parquet") for path in found} - {"data"})
    if len(splits) > 1 and all("-of-" in os.path.basename(path) for path in found):
        listed = ", ".join(splits)
        msg = (
            f"Folder '{folder}' holds the splits {listed}. Pass one: '{os.path.join(folder, '**', splits[0] + '-*')}'."
        )
        raise InputError(msg)
    return found


def arrow_frame(files: list[str]) -> Any:
    """The Arrow files as one PyArrow table, class numbers as their names."""
    import pyarrow as pa

    return pa.concat_tables([arrow_table(path) for path in files], promote_options="default")
