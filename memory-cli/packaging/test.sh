#!/usr/bin/env bash
# Tests the packages of a folder for the processor of this machine in a bare Debian system: no Rust, no compiler.
#
# usage: test.sh FOLDER
#
# It needs root and debootstrap. Each package is installed with its own tool, the program writes, searches and serves an agent, opens the
# homes of earlier versions, and is removed again, which leaves only the home.
set -euo pipefail

packages="$(realpath "${1:?usage: test.sh FOLDER}")"
formats="$(realpath "$(dirname "$0")/../tests/formats")"
root="${ROOT_SYSTEM:-$(mktemp -d)/system}"
if [ ! -e "$root/usr/bin/npm" ]; then
    debootstrap --variant=minbase --include=python3-pip,python3-venv stable "$root"
    chroot "$root" apt-get install -qy --no-install-recommends npm
fi
trap 'umount "$root/packages" "$root/formats" "$root/proc" 2>/dev/null || :' EXIT
mkdir -p "$root/packages" "$root/formats"
mount -t proc proc "$root/proc"
mount --bind "$packages" "$root/packages"
mount --bind "$formats" "$root/formats"
cat >"$root/test" <<'END'
set -eu
export HOME=/root/user
# Runs the program as a new user does.
try() {
    rm -rf "$HOME" && mkdir -p "$HOME" && cd "$HOME"
    "$1" write "The user prefers tea" >/dev/null
    "$1" search tea | grep -q "prefers tea"
    "$1" tour </dev/null >/dev/null
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}' |
        "$1" mcp | grep -q serverInfo
    for home in /formats/*; do
        rm -rf /root/former && cp -r "$home" /root/former && chmod -R go= /root/former
        HOME=/root/former "$1" list --limit 0 | grep -q .
        HOME=/root/former "$1" write "A new memory in an old home" >/dev/null
        HOME=/root/former "$1" undo >/dev/null 2>&1
        HOME=/root/former "$1" doctor >/dev/null 2>&1
    done
    rm -rf /root/former
    find "$HOME" -mindepth 1 -maxdepth 1 ! -name .memory | { ! grep .; }
}
for tool in cargo rustc gcc; do
    if command -v "$tool"; then exit 1; fi
done
before="$(find / -xdev -path /proc -prune -o -path /packages -prune -o -type f -print | wc -l)"
cd /tmp
archive="$(echo /packages/memory-*-"$(uname -m)"-unknown-linux-musl.tar.gz)"
tar -xzf "$archive"
try "$(echo /tmp/memory-*/memory)"
echo "archives: $(wc -c <"$archive") bytes with gzip, $(wc -c <"${archive%gz}xz") bytes with xz"
rm -r /tmp/memory-*
start="$(date +%s%N)"
dpkg -i /packages/*_"$(dpkg --print-architecture)".deb >/dev/null
echo "dpkg: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
try memory
dpkg -P memory-cli >/dev/null
[ ! -e /usr/bin/memory ]
python3 -m venv /tmp/venv
start="$(date +%s%N)"
/tmp/venv/bin/pip install --no-index --quiet /packages/*_"$(uname -m)".whl
echo "pip: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
try /tmp/venv/bin/memory
rm -r /tmp/venv
start="$(date +%s%N)"
npm install --global --offline --no-audit --no-fund --loglevel=error /packages/*-"$(node -p process.arch)".tgz >/dev/null
echo "npm: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
program="$(npm prefix --global)/bin/memory"
try "$program"
npm uninstall --global --loglevel=error memory-cli >/dev/null
[ ! -e "$program" ]
rm -rf "$HOME" /root/.npm
after="$(find / -xdev -path /proc -prune -o -path /packages -prune -o -type f -print | wc -l)"
echo "files left: $((after - before))"
END
chroot "$root" /bin/sh /test
