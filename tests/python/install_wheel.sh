#!/bin/sh
# Builds the wheel of the repository $2 with the Python $1 and installs it into the folder $3, without any network.
set -eu
cd "$2"
rm -rf "$3" build/wheel
exec "$1" -m pip install . --no-build-isolation --no-deps --no-index --quiet --disable-pip-version-check \
  --root-user-action=ignore --target "$3"
