#!/usr/bin/env bash
# Looks at an exported page with a real browser: that its tree comes up, that nothing of what a session says is
# run, and that nothing is asked of the network.
#
#   scripts/check-export.sh PAGE.html
#
# Exit status: 0 all is well, 1 it is not, 77 there is no Chromium here (Debian's package `chromium` has one).
set -euo pipefail

page=$(realpath -- "$1")
browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [ -z "$browser" ]; then
  echo "no Chromium here"
  exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
if ! timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
  --user-data-dir="$folder/profile" --host-resolver-rules='MAP * ~NOTFOUND' --no-first-run \
  --enable-logging=stderr --virtual-time-budget=3000 --dump-dom "file://$page" \
  >"$folder/dom" 2>"$folder/said"; then
  echo "the browser failed:"
  tail -n 5 "$folder/said"
  exit 1
fi

failed=0
wrong() {
  echo "$1"
  failed=1
}
# What the browser says of a page stands in lines of its console: what its policy refused, and errors of scripts.
if grep ':CONSOLE' "$folder/said" | sed 's/^/  /' >"$folder/console" && [ -s "$folder/console" ]; then
  wrong "the page's console is not empty:"
  cat "$folder/console"
fi
grep -q 'class="row ' "$folder/dom" || wrong "the tree did not come up"
grep -q '<section id="tree"[^>]*hidden' "$folder/dom" && wrong "the tree is hidden"
[ "$(grep -o '<script' "$folder/dom" | wc -l)" = 1 ] || wrong "there is another script than ours"
# An attribute that a browser writes out again is escaped again, so that these can only be real ones.
grep -Eo '<[a-z]+( [a-z-]+(="[^"]*")?)* on[a-z]+=' "$folder/dom" && wrong "an element has a handler"
grep -Eo '<[a-z]+( [a-z-]+(="[^"]*")?)* (href|src|action|formaction|srcdoc)="(javascript|data:text|file)' "$folder/dom" &&
  wrong "an address is not allowed"
exit "$failed"
