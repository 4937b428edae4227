#!/usr/bin/env bash
# Builds the packages for a target, by default static Linux on this machine's processor, into target/packages.
#
# usage: build.sh [TARGET]
#
# It needs Rust with the target (rustup target add TARGET), musl-gcc and Python 3.11. For another processor, it needs the compiler, the C
# library and the emulator of Debian instead: gcc-aarch64-linux-gnu, musl-dev:arm64 and qemu-user-static. The paths of the machine are
# removed from the program, and all times in the packages are that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${1:-$(uname -m)-unknown-linux-musl}"
folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
export RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=$PWD=/memory --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$folder=/target"
processor="${target%%-*}"
variable="${target//-/_}"
if [ "$processor" = "$(uname -m)" ]; then
    export "CC_$variable=musl-gcc"
else
    export "CC_$variable=$processor-linux-gnu-gcc" "CFLAGS_$variable=-specs=/usr/lib/$processor-linux-musl/musl-gcc.specs"
    export "CARGO_TARGET_${variable^^}_LINKER=$processor-linux-gnu-gcc" "CARGO_TARGET_${variable^^}_RUNNER=qemu-$processor-static"
fi
cargo build --locked --profile dist --target "$target" -p memory-cli --bin memory
python3 memory-cli/packaging/package.py "$folder/$target/dist/memory" "$target" "$folder/packages"
