#!/bin/sh
# Finds Chromium for the tests of the report, or installs Debian's where that is possible. Fails with one sentence.
set -u
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1
fi
command -v chromium >/dev/null 2>&1 && exit 0
echo "Chromium is not here and could not be installed: the browser tests will be skipped." >&2
exit 1
