"""Parquet of which a part is damaged."""

from pathlib import Path

import pyarrow.parquet as pq


def damaged(path: Path, group: int, column: str) -> None:
    """Overwrite the head of one column in one row group."""
    metadata = pq.read_metadata(path).row_group(group)
    chunks = [metadata.column(i) for i in range(metadata.num_columns)]
    start = next(one.data_page_offset for one in chunks if one.path_in_schema == column)
    content = bytearray(path.read_bytes())
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(content)
