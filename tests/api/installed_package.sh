#!/bin/sh
# Installs the build in $1 and builds the example programs in $2 against what was installed, by CMake's package and by
# pkg-config; then runs them from another place than the one they were installed to.
set -eu
build=$1
examples=$2
sample=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --component engine --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved
library_path=$(dirname "$(find "$prefix" -name 'libsotto.so')")

cmake -S "$examples" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
"$scratch/build/transcribe_c" "$sample" | tee "$scratch/text"
grep -q 'kept his eyes fixed' "$scratch/text"
"$scratch/build/subtitles_cpp" "$sample" language=en max-line-width=20 | tee "$scratch/subtitles"
grep -q -- '-->' "$scratch/subtitles"
if "$scratch/build/subtitles_cpp" "$sample" no-such-option=1 2>"$scratch/error"; then exit 1; fi
grep -q "there is no option 'no-such-option'" "$scratch/error"

export PKG_CONFIG_PATH=$library_path/pkgconfig
# shellcheck disable=SC2046  # several words are meant
cc -std=c11 -pedantic -Wall -Wextra -Werror "$examples/transcribe.c" -o "$scratch/with_pkg_config" \
  $(pkg-config --cflags --libs sotto)
LD_LIBRARY_PATH=$library_path "$scratch/with_pkg_config" "$sample" | cmp - "$scratch/text"

"$prefix/bin/sotto" --version
