#!/usr/bin/env bash
# Tests the packages of a folder in a bare Debian system: no Rust, no compiler.
#
# usage: test.sh FOLDER
#
# It needs root, debootstrap, pip and npm of this machine are not used. Each package is installed with its own tool, the program writes,
# searches and serves an agent, opens the homes of earlier versions, and is removed again, which leaves only the home.
set -euo pipefail

packages="$(realpath "${1:?usage: test.sh FOLDER}")"
formats="$(realpath "$(dirname "$0")/../tests/formats")"
root="${ROOT_SYSTEM:-$(mktemp -d)/system}"
if [ ! -e "$root/usr/bin/npm" ]; then
    debootstrap --variant=minbase --include=python3-pip,python3-venv,npm stable "$root"
fi
trap 'umount "$root/packages" "$root/formats" 2>/dev/null || :' EXIT
mkdir -p "$root/packages" "$root/formats"
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
        HOME=/root/former "$1" undo >/dev/null
        HOME=/root/former "$1" doctor >/dev/null
    done
    rm -rf /root/former
    find "$HOME" -mindepth 1 -maxdepth 1 ! -name .memory | { ! grep .; }
}
! command -v cargo && ! command -v rustc && ! command -v gcc
before="$(find / -xdev -path /proc -prune -o -path /packages -prune -o -type f -print | wc -l)"
cd /tmp
tar -xzf /packages/memory-*-linux-musl.tar.gz
try "$(echo /tmp/memory-*/memory)"
echo "archive: $(time -p true 2>/dev/null; ls -s --block-size=1 /packages/memory-*-linux-musl.tar.gz | cut -d' ' -f1) bytes, works"
rm -r /tmp/memory-*
start="$(date +%s%N)"
dpkg -i /packages/*.deb >/dev/null
echo "dpkg: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
try memory
dpkg -P memory-cli >/dev/null
! command -v memory
python3 -m venv /tmp/venv
start="$(date +%s%N)"
/tmp/venv/bin/pip install --no-index --quiet /packages/*.whl
echo "pip: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
try /tmp/venv/bin/memory
rm -r /tmp/venv
start="$(date +%s%N)"
npm install --global --offline --no-audit --no-fund --loglevel=error /packages/*.tgz >/dev/null
echo "npm: installed in $(( ($(date +%s%N) - start) / 1000000 )) ms"
try memory
npm uninstall --global --loglevel=error memory-cli >/dev/null
! command -v memory
rm -rf "$HOME" /root/.npm
after="$(find / -xdev -path /proc -prune -o -path /packages -prune -o -type f -print | wc -l)"
echo "files left: $((after - before))"
END
chroot "$root" /bin/sh /test
