"""Files that labelling and evaluation tools write -> answers (item, annotator, label) with an account of every record.

One file per tool. An importer is a `Format`: how it recognises a file by its content, and a function that reads it
into a `Sheet`. `registry` lists them.
"""

from covote.importers.registry import FORMATS, formats, read_export
from covote.importers.value import Account, Answers, Format, Options, Sheet

__all__ = ["FORMATS", "Account", "Answers", "Format", "Options", "Sheet", "formats", "read_export"]
