#!/usr/bin/env bash
# Builds the packages for a target, by default static Linux on this machine's processor, into target/packages.
#
# usage: build.sh [TARGET]
#
# It needs Rust with the target (rustup target add TARGET) and Python 3.11. A static program for Linux also needs musl-gcc, or, for another
# processor, the compiler, the C library and the emulator of Debian: gcc-aarch64-linux-gnu, musl-dev:arm64 and qemu-user-static. The paths
# of the machine are removed from the program, and all times in the packages are that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${1:-$(uname -m)-unknown-linux-musl}"
mkdir -p "${CARGO_TARGET_DIR:-target}"
folder="$(cd "${CARGO_TARGET_DIR:-target}" && pwd -P)"
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
flags="--remap-path-prefix=$PWD=/memory --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$folder=/target"
processor="${target%%-*}"
variable="${target//-/_}"
capitals="$(echo "$variable" | tr '[:lower:]' '[:upper:]')"
case "$target" in
*-musl)
    flags="-C target-feature=+crt-static $flags"
    # Compact relocations make the start faster. Linkers support them for this processor first.
    [ "$processor" != x86_64 ] || flags="-C link-arg=-Wl,-z,pack-relative-relocs $flags"
    if [ "$processor" = "$(uname -m)" ]; then
        export "CC_$variable=musl-gcc"
    else
        export "CC_$variable=$processor-linux-gnu-gcc" "CFLAGS_$variable=-specs=/usr/lib/$processor-linux-musl/musl-gcc.specs"
        export "CARGO_TARGET_${capitals}_LINKER=$processor-linux-gnu-gcc" "CARGO_TARGET_${capitals}_RUNNER=qemu-$processor-static"
    fi
    ;;
*-windows-*)
    flags="-C target-feature=+crt-static $flags"
    extension=.exe
    ;;
esac
export RUSTFLAGS="$flags"
cargo build --locked --profile dist --target "$target" -p memory-cli --bin memory
python3 memory-cli/packaging/package.py build "$folder/$target/dist/memory${extension:-}" "$target" "$folder/packages"
python3 memory-cli/packaging/package.py index "$folder/packages"
