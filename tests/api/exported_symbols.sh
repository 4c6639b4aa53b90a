#!/bin/sh
# The library $1 exports what the list $2 says: the functions of include/sotto/sotto.h, and nothing else. After a change
# to the API: nm -D --defined-only LIBRARY | cut -d ' ' -f 3 | sort > tests/api/symbols.txt
set -eu
nm -D --defined-only "$1" | cut -d ' ' -f 3 | LC_ALL=C sort | diff - "$2"
# Every function of the header ($3) is one of them.
grep -o 'sotto_[a-z_]*(' "$3" | tr -d '(' | LC_ALL=C sort -u | diff - "$2"
