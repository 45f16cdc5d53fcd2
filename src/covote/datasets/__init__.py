"""Data sets by name: a name in, annotations and truth ready for `fit` out; folders, downloads, protocols."""

from covote.datasets.fetch import fetch_dataset
from covote.datasets.folders import cache_folder, data_folders, dataset_names, dataset_path
from covote.datasets.known import KNOWN, KnownSet
from covote.datasets.load import DataSet, load_dataset

__all__ = [
    "KNOWN",
    "DataSet",
    "KnownSet",
    "cache_folder",
    "data_folders",
    "dataset_names",
    "dataset_path",
    "fetch_dataset",
    "load_dataset",
]
