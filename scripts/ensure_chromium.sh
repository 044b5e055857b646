#!/bin/sh
# Finds a Chromium for the tests, or brings Debian's where that is allowed; otherwise says what to do.
set -eu
if [ -n "${PYWEBMCP_CHROMIUM:-}" ]; then
    [ -x "$PYWEBMCP_CHROMIUM" ] || { echo "PYWEBMCP_CHROMIUM=$PYWEBMCP_CHROMIUM is no executable" >&2; exit 1; }
    exit 0
fi
for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
[ -d "/Applications/Google Chrome.app" ] && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing chromium with apt-get" >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    exit 0
fi
echo "The tests need a Chromium of version 150 or later: install one (Debian: sudo apt-get install chromium)," >&2
echo "or set PYWEBMCP_CHROMIUM to its executable." >&2
exit 1
