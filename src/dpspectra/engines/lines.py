"""CSV text as blocks of cells. A line break always ends a row, so the number of rows depends on no cell.

A ragged line (other number of cells than the header, blank, or absurdly long) is a row of missing cells.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from ..core.errors import SchemaError
from ..core.schema import Reading, Schema
from ..rows import text
from ..rows.memory import find

CHUNK = 1 << 22
LONGEST = 1 << 26
"""A longer line is cut there; what is left has too few cells and becomes missing."""

FloatArray = NDArray[np.float64]


def header(path: Path, reading: Reading) -> list[str]:
    """The cells of the first line. A file without a header row shows cells here: never print them."""
    first = next(_chunks(path, reading), b"").split(b"\n", 1)[0]
    return _cells(first, reading)


def count(path: Path, reading: Reading) -> int:
    """Number of rows: lines after the header."""
    return max(0, sum(chunk.count(b"\n") for chunk in _chunks(path, reading)) - 1)


def blocks(path: Path, schema: Schema) -> Iterator[FloatArray]:
    """Cells (rows, columns) of the schema's columns, one block per chunk of text."""
    names = header(path, schema.reading)
    places = locate(names, schema)
    for i, chunk in enumerate(_chunks(path, schema.reading)):
        body = chunk.split(b"\n", 1)[1] if i == 0 else chunk
        if body:
            yield _parse(body, len(names), places, schema)


def locate(names: list[str], schema: Schema) -> list[int]:
    """Places of the schema's columns in the header."""
    hint = (
        "; the first line holds one name only: is [reading] delimiter right?"
        if len(names) == 1
        else "; the first line of a CSV file must hold the column names"
    )
    return find(names, schema, hint)


def _chunks(path: Path, reading: Reading) -> Iterator[bytes]:
    """UTF-8 text in pieces of whole lines, each ended by one newline."""
    try:
        with _open(path) as stream:
            yield from _whole_lines(_decoded(stream, reading))
    except (OSError, EOFError, zlib.error, UnicodeError):  # UTF-16 without a byte-order mark
        raise SchemaError(f"file {path.name!r} cannot be read as text (or gzip, if named .gz)") from None


def _open(path: Path) -> BinaryIO:
    return io.BufferedReader(gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _decoded(stream: BinaryIO, reading: Reading) -> Iterator[bytes]:
    decoder = None
    if codecs.lookup(reading.encoding).name not in ("utf-8", "ascii"):
        decoder = codecs.getincrementaldecoder(reading.encoding)(errors="replace")
    first = True
    while data := stream.read(CHUNK):
        if decoder is not None:
            data = decoder.decode(data).encode("utf-8", errors="replace")
        if first:
            data = data.removeprefix(codecs.BOM_UTF8)
            first = False
        yield data


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield _plain_breaks(rest + piece[:cut])
            rest = piece[cut:]
        else:
            rest = (rest + piece)[:LONGEST]
    if rest:
        yield _plain_breaks(rest + b"\n")


def _plain_breaks(lines: bytes) -> bytes:
    """CRLF becomes LF; a lone CR is a character of its cell."""
    return lines.replace(b"\r\n", b"\n").replace(b"\r", b" ")


def _cells(line: bytes, reading: Reading) -> list[str]:
    """Cells of one line with quotes; a quote left open ends with the line."""
    try:
        decoded = line.decode("utf-8", errors="replace")
        row = next(csv.reader([decoded], delimiter=reading.delimiter, quotechar=reading.quote), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in row]


def _parse(body: bytes, width: int, places: list[int], schema: Schema) -> FloatArray:
    """Whole lines to cells. Plain lines go through Arrow's parser, lines with quotes one by one.

    Arrow is given only lines with the right number of delimiters and no quotes, so it meets no fault: its
    quotes swallow line breaks, and its handler of ragged lines fails on bytes that are not UTF-8.
    """
    reading = schema.reading
    codes = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(codes == ord("\n")) + 1
    quoted = _per_line(codes, ends, reading.quote) > 0
    plain = (_per_line(codes, ends, reading.delimiter) == width - 1) & ~quoted
    out = np.full((len(ends), len(places)), np.nan)
    starts = np.concatenate([[0], ends[:-1]])
    rows = [_cells(body[starts[i] : ends[i]], reading) for i in np.flatnonzero(quoted)]
    fit = np.array([len(row) == width for row in rows], dtype=bool)
    texts = [
        pa.array([row[place] for row, fits in zip(rows, fit, strict=True) if fits], pa.string())
        for place in places
    ]
    parsed = _plain_texts(body, ends, plain, width, places, reading)
    for where, columns in ((np.flatnonzero(plain), parsed), (np.flatnonzero(quoted)[fit], texts)):
        for i, column in enumerate(schema.columns):
            out[where, i] = text.cells(columns[i], column, reading)
    return out


def _per_line(codes: NDArray[np.uint8], ends: NDArray[np.int64], mark: str) -> NDArray[np.int64]:
    """How often a one-byte mark occurs in each line."""
    before = np.searchsorted(np.flatnonzero(codes == ord(mark)), ends)
    return np.diff(before, prepend=0)


def _plain_texts(
    body: bytes,
    ends: NDArray[np.int64],
    plain: NDArray[np.bool_],
    width: int,
    places: list[int],
    reading: Reading,
) -> list[Any]:
    """Cells of the plain lines as one Arrow string array per place."""
    if not plain.any():
        return [pa.array([], pa.string())] * len(places)
    if not plain.all():
        offsets = pa.py_buffer(np.concatenate([[0], ends]).astype(np.int64).tobytes())
        every = pa.Array.from_buffers(pa.large_binary(), len(ends), [None, offsets, pa.py_buffer(body)])
        body = b"".join(every.filter(pa.array(plain)).to_pylist())
    names = [str(i) for i in range(width)]
    table = pa_csv.read_csv(
        pa.BufferReader(body),
        read_options=pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(body) + 1),
        parse_options=pa_csv.ParseOptions(
            delimiter=reading.delimiter, quote_char=False, escape_char=False, ignore_empty_lines=False
        ),
        convert_options=pa_csv.ConvertOptions(
            include_columns=[names[place] for place in places],
            column_types=dict.fromkeys(names, pa.string()),
            check_utf8=False,
            strings_can_be_null=False,
        ),
    )
    return [column.combine_chunks() for column in table.columns]
