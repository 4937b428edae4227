#!/usr/bin/env bash
# Signs the files of a folder with the identity of this workflow (sigstore, without keys).
#
# usage: sign.sh FOLDER
#
# Each file gets `FILE.sigstore.json`, which `cosign verify-blob --bundle` checks.
set -euo pipefail

find "${1:?usage: sign.sh FOLDER}" -type f ! -name '*.sigstore.json' | while read -r file; do
    cosign sign-blob --yes --bundle "$file.sigstore.json" "$file"
done
