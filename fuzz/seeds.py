"""Packs and unpacks the seeds of the fuzz targets: one text file per target, one line per input.

    python3 fuzz/seeds.py unpack FOLDER    writes each input to FOLDER/TARGET/NAME
    python3 fuzz/seeds.py pack FOLDER      writes fuzz/seeds/TARGET.txt from FOLDER/TARGET/*

A line is the name, a tab, and the bytes. A byte outside printable ASCII, and the backslash, is written as `\\xNN`.
"""

import re
import sys
from pathlib import Path

SEEDS = Path(__file__).resolve().parent / "seeds"


def escaped(data):
    return "".join(chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in data)


def plain(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode("ascii"))


def pack(folder):
    SEEDS.mkdir(exist_ok=True)
    for target in sorted(path for path in folder.iterdir() if path.is_dir()):
        lines = [f"{file.name}\t{escaped(file.read_bytes())}\n" for file in sorted(target.iterdir())]
        (SEEDS / f"{target.name}.txt").write_text("".join(lines))


def unpack(folder):
    for packed in sorted(SEEDS.glob("*.txt")):
        target = folder / packed.stem
        target.mkdir(parents=True, exist_ok=True)
        for line in packed.read_text().splitlines():
            name, _, text = line.partition("\t")
            (target / name).write_bytes(plain(text))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pack", folder]:
            pack(Path(folder))
        case ["unpack", folder]:
            unpack(Path(folder))
        case _:
            sys.exit(__doc__)
