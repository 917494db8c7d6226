#!/usr/bin/env bash
# Tries out the example extensions of pi's package, and writes down what became of each.
#
#   scripts/pi-examples.sh [EXAMPLE …]
#
# Installs the package from the npm registry into a folder of its own, with nothing run that it brings, loads each
# example as it is and plays the scenario that crates/ramal/tests/pi_examples has for it. Without names all are tried,
# and docs/extensions-of-pi.md is written anew; with names (as `bookmark`) only those, and nothing is written.
# Exit status: 0 all is as the table says, 1 it is not.
#
# Needs npm, git and cargo. PI_VERSION (1.6.0) says which package, PI_FOLDER (target/pi-examples) where it is put.
# The build machine does not run this: it depends on the registry, and on somebody else's package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=@earendil-works/pi-coding-agent
version="${PI_VERSION:-1.6.0}"
folder="$(realpath -m -- "${PI_FOLDER:-target/pi-examples}")/$version"
package="$folder/package"
for needed in npm git cargo; do
  command -v "$needed" > /dev/null || { echo "no $needed here" >&2; exit 1; }
done

if [ ! -f "$package/package.json" ]; then
  echo "== getting $name $version"
  mkdir -p "$folder"
  archive="$(npm pack --silent --pack-destination "$folder" "$name@$version" | tail -n 1)"
  tar -xzf "$folder/$(basename -- "$archive")" -C "$folder"
fi
# What an example needs of the registry lies in its own node_modules.
for about in "$package"/examples/extensions/*/package.json; do
  own="$(dirname -- "$about")"
  [ -d "$own/node_modules" ] && continue
  echo "== installing what $(basename -- "$own") needs"
  npm install --silent --prefix "$own" --ignore-scripts --no-audit --no-fund --no-save ||
    echo "that failed; it is tried as it is" >&2
done

export PI_PACKAGE="$package" PI_EXAMPLES="$*" PI_DATE
PI_DATE="$(date -u +%Y-%m-%d)"
report=docs/extensions-of-pi.md
if [ $# -eq 0 ]; then
  export PI_REPORT="$PWD/$report"
fi
echo "== trying them out"
status=0
cargo test --quiet -p ramal --test pi_examples -- --ignored || status=1
[ $# -gt 0 ] || git diff --stat -- "$report"
exit "$status"
