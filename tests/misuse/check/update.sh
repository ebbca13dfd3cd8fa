#!/usr/bin/env bash
# Writes what is expected of all programs of this folder anew, after a change of wording. Read the difference.
#
# Usage: update.sh <root of an installation>

set -euo pipefail
root=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
for source in *.cpp *_*.py; do
    printf '%s\n' "${source%.*}"
done | xargs -P "$(nproc)" -I{} ./run_item.sh "$root" {} --update
