"""JSON records, one a line or in a list -> `Source` with each column in the type its values have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covote.annotations.columns import Wide, choose
from covote.annotations.source import Source
from covote.annotations.stored import identifier, literal
from covote.errors import ColumnError, InputError


def open_json(con: Any, paths: str, compression: str) -> Source:
    """A source over JSON files; `paths` is a list in SQL."""
    options = f"{paths}, format = 'auto', compression = {literal(compression)}"
    sample = f"SELECT * FROM read_json({options}, records = true, map_inference_threshold = -1)"  # noqa: S608
    names = list(con.sql(sample).columns)
    if _may_be_wide(names):  # a key may turn up late: look at every record
        names = _all_keys(con, options)
    source = Source(con, names)

    def use(wanted: Sequence[str]) -> None:
        columns = ", ".join(f"{literal(name)}: 'JSON'" for name in wanted)
        con.execute(
            f"CREATE OR REPLACE VIEW raw AS SELECT * FROM read_json({options}, records = true, columns = {{{columns}}})"  # noqa: S608
        )
        typed = ", ".join(f"{_typed(source, name)} AS {identifier(name)}" for name in wanted)
        con.execute(f"CREATE OR REPLACE VIEW source AS SELECT {typed} FROM raw")  # noqa: S608

    source.use = use
    return source


def _may_be_wide(names: Sequence[str]) -> bool:
    try:
        return isinstance(choose(names), Wide)
    except ColumnError:
        return True


def _all_keys(con: Any, options: str) -> list[str]:
    query = f"""
        SELECT key FROM (
            SELECT row, unnest(keys) AS key, generate_subscripts(keys, 1) AS place FROM (
                SELECT row_number() OVER () AS row, json_keys(json) AS keys FROM read_json_objects({options})))
        GROUP BY key ORDER BY min((row, place))"""  # noqa: S608
    return [key for (key,) in con.execute(query).fetchall()]


def _typed(source: Source, name: str) -> str:
    """The expression that gives a JSON column its own type; columns of mixed kinds stay JSON text."""
    column = identifier(name)
    kinds = {kind for (kind,) in source.rows(f"SELECT DISTINCT json_type({column}) FROM raw")}  # noqa: S608
    kinds -= {None, "NULL"}
    if kinds & {"OBJECT", "ARRAY"}:
        msg = (
            f"Column '{name}' holds lists or records. Ids and labels must be strings, numbers, true or false: "
            f"name a path inside it with item=, annotator= or label=, such as {name}.id."
        )
        raise InputError(msg)
    if kinds <= {"VARCHAR"}:
        return f"{column}->>'$'"
    if kinds <= {"BIGINT", "UBIGINT"}:
        fits = f"SELECT bool_and(TRY_CAST({column}->>'$' AS BIGINT) IS NOT NULL) FROM raw WHERE {column} IS NOT NULL"  # noqa: S608
        return f"({column}->>'$')::{'BIGINT' if source.rows(fits)[0][0] else 'HUGEINT'}"
    if kinds in ({"DOUBLE"}, {"BOOLEAN"}):
        return f"({column}->>'$')::{min(kinds)}"
    source.json_text.add(name)
    return f"{column}::VARCHAR"
