# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables `urls` and `results` of a job.db, read as src/store/job_pack.h says and by none of its code."""
SHAPES = {"urls": (7, 1), "results": (11, 0)}  # integers and texts of a row
URL_NUMBER, URL_PATH = 0, 7
RESULT_SEQ, RESULT_URL = 0, 1


def unfold(n):
    return -(n + 1) // 2 if n & 1 else n // 2


def pack(number, rows, ints, texts):
    """Yields the rows of one pack, each a list of its integers, then its texts."""
    at = 0
    while at < len(rows):
        row, widths = [number * 16 + rows[at]], rows[at + 1:at + ints]
        at += ints
        for width in widths:
            row.append(unfold(int.from_bytes(rows[at:at + width], "little")))
            at += width
        for _ in range(texts):
            n = shift = 0
            while True:
                byte = rows[at]
                n, shift, at = n | (byte & 127) << shift, shift + 7, at + 1
                if byte < 128:
                    break
            row.append(rows[at:at + n].decode(errors="replace"))
            at += n
        yield row


def rows_of(db, table, where="1"):
    """All rows of the packs that `where` chooses, in order."""
    for number, rows in db.execute(f"SELECT pack, rows FROM {table} WHERE {where} ORDER BY pack"):
        yield from pack(number, rows, *SHAPES[table])
