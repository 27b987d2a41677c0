"""Verifies that a program for macOS is a Mach-O file for its processor with a valid ad-hoc signature, as Apple silicon demands.

    python3 deploy/package/macho.py TRIPLE PROGRAM

The formats are those of Apple's `mach-o/loader.h` and `Security/CSCommon.h`. The certificate of other signatures is not checked.
"""

import hashlib
import struct
import sys
from pathlib import Path

MAGIC, EXECUTABLE = 0xFEEDFACF, 2
CPUS = {"aarch64": 0x0100000C, "x86_64": 0x01000007}
LC_CODE_SIGNATURE = 0x1D
SIGNATURE, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
AD_HOC, SHA256 = 2, 2


class Invalid(Exception):
    """The fault of a program."""


def demand(holds, fault):
    if not holds:
        raise Invalid(fault)


def signature(program, cpu):
    """The offset of the signature in the file, which its load commands name."""
    magic, its_cpu, _, kind, count = struct.unpack_from("<IIIII", program)
    demand((magic, its_cpu, kind) == (MAGIC, CPUS[cpu], EXECUTABLE), f"it is no Mach-O program for {cpu}")
    place = 32
    for _ in range(count):
        command, length, offset = struct.unpack_from("<III", program, place)
        if command == LC_CODE_SIGNATURE:
            return offset
        place += length
    raise Invalid("it is not signed")


def verify(program, cpu):
    """Compares the hash of each page of `program`, in bytes, with its signature.

    Raises `Invalid` if one differs, or if the signature is not ad hoc. Returns the number of pages.
    """
    begin = signature(program, cpu)
    magic, _, blobs = struct.unpack_from(">III", program, begin)
    demand(magic == SIGNATURE, "its signature cannot be read")
    places = [begin + struct.unpack_from(">II", program, begin + 12 + 8 * blob)[1] for blob in range(blobs)]
    directories = [place for place in places if struct.unpack_from(">I", program, place)[0] == CODE_DIRECTORY]
    demand(directories, "its signature has no hashes")
    directory = directories[0]
    flags, hashes, _, _, pages, limit = struct.unpack_from(">IIIIII", program, directory + 12)
    size, kind, _, page_bits = struct.unpack_from("BBBB", program, directory + 36)
    demand(flags & AD_HOC and (size, kind) == (32, SHA256), "its signature is not ad hoc with SHA-256")
    page = 1 << page_bits
    demand(limit == begin and pages == -(-limit // page), "its signature does not cover the whole program")
    for number in range(pages):
        text = program[number * page : min((number + 1) * page, limit)]
        place = directory + hashes + size * number
        demand(hashlib.sha256(text).digest() == program[place : place + size], f"page {number} differs from its signature")
    return pages


def main(triple, path):
    try:
        pages = verify(Path(path).read_bytes(), triple.partition("-")[0])
    except (Invalid, struct.error) as fault:
        sys.exit(f"macho: {path}: {fault}")
    print(f"{path}: Mach-O for {triple}, signed ad hoc, {pages} pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
