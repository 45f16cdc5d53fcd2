#!/bin/sh
# Find a Java that Spark accepts (17 or newer), or install Debian's headless package where the system allows it.
# Prints the path of the java command; exits with 1 and a sentence when there is none to be had.
set -eu

wanted=17

major() { # the major version of a java command, or 0
    "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

find_java() {
    for candidate in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
        [ -n "$candidate" ] && [ -x "$candidate" ] || continue
        found=$(major "$candidate")
        if [ "${found:-0}" -ge "$wanted" ]; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

if find_java; then exit 0; fi

if ! command -v apt-get >/dev/null; then
    echo "No Java $wanted or newer found, and no apt-get to install it with. Install one and set JAVA_HOME." >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "No Java $wanted or newer found. Run as root: apt-get install openjdk-$wanted-jre-headless" >&2
        exit 1
    fi
    as_root="sudo -n"
fi
for package in openjdk-21-jre-headless openjdk-17-jre-headless default-jre-headless; do
    if $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" >&2; then
        break
    fi
done
if ! find_java; then
    echo "Java could not be installed. Try: apt-get update, then this script again." >&2
    exit 1
fi
