"""Reproducible archives, independent of time and user. Entries map a name to a path and an executable flag."""

import gzip
import tarfile
import zipfile


def mode(runs):
    return 0o755 if runs else 0o644


def tar(file, entries, time):
    """Writes a gzip-compressed tar archive whose files all have `time`, in seconds."""
    with file.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=time) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, (path, runs) in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = path.stat().st_size, time, mode(runs)
            with path.open("rb") as data:
                archive.addfile(entry, data)


def zipped(file, entries):
    """Writes a zip archive whose files all have the format's first day."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, (path, runs) in entries.items():
            entry = zipfile.ZipInfo(name)
            # The first bits mark a regular file.
            entry.external_attr = (0o100000 | mode(runs)) << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=9)
