#!/usr/bin/env bash
# Builds the module and runs `test.py` with it, or `test_torch.py` after the argument `torch`. NumPy or PyTorch must be installed, or in
# PYTHONPATH.
# The target folder is its own: libraries have fewer features here than in the workspace above.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-../../target}/python
# The interpreter has the symbols of its library.
export PYO3_BUILD_EXTENSION_MODULE=1
cargo build --quiet --locked --target-dir "$target"
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT
cp "$target/debug/libsarek_python.so" "$modules/sarek_python.so"
PYTHONPATH="$modules${PYTHONPATH:+:$PYTHONPATH}" python3 "test${1:+_$1}.py"
