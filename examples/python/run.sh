#!/usr/bin/env bash
# Builds the module and runs `test.py` with it. NumPy must be installed, or in PYTHONPATH.
# The target folder is its own: libraries have fewer features here than in the workspace above.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-../../target}/python
cargo build --quiet --locked --target-dir "$target"
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT
cp "$target/debug/libsarek_python.so" "$modules/sarek_python.so"
PYTHONPATH="$modules${PYTHONPATH:+:$PYTHONPATH}" python3 test.py
