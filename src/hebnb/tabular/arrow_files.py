"""Arrow and Feather files, as Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hebnb.errors import InputError
from hebnb.foundation.printable import visible


def as_parquet(path: Path, folder: Path) -> Path:
    """The rows of an Arrow file, or stream, as a Parquet file in a folder, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = folder.joinpath(*(part for part in path.parent.parts if "=" in part), f"{path.stem}.parquet")
    made.parent.mkdir(parents=True, exist_ok=True)
    try:
        with pa.memory_map(str(path)) as stream:
            schema, batches = _opened(stream)
            with pq.ParquetWriter(made, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        reason = visible(str(error).splitlines()[0], 200)
        raise InputError(f"{visible(str(path))!r} cannot be read as an Arrow file: {reason}.") from error
    return made


def _opened(stream: Any) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa

    try:
        file = pa.ipc.open_file(stream)
    except pa.ArrowInvalid:
        stream.seek(0)
        reader = pa.ipc.open_stream(stream)
        return reader.schema, iter(reader)
    return file.schema, (file.get_batch(n) for n in range(file.num_record_batches))
