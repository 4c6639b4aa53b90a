#!/usr/bin/env python3
"""Writes src/whisper/unicode_tables.inc: the ranges of Unicode letters (L*) and numbers (N*).

Usage: tools/make_unicode_tables.py > src/whisper/unicode_tables.inc
The Unicode version is that of the Python that runs it; the first line of the output names it.
"""
import sys
import unicodedata

RANGES_PER_LINE = 5


def ranges(major):
    """Inclusive ranges of the code points whose general category starts with `major`."""
    found = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != major:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def print_table(name, table):
    print(f"constexpr CodeRange {name}[] = {{")
    for i in range(0, len(table), RANGES_PER_LINE):
        row = (f"{{0x{first:X}, 0x{last:X}}}," for first, last in table[i : i + RANGES_PER_LINE])
        print("    " + " ".join(row))
    print("};")


print(f"// Unicode {unicodedata.unidata_version}; made by tools/make_unicode_tables.py, do not edit.")
print_table("kLetters", ranges("L"))
print_table("kNumbers", ranges("N"))
