#!/bin/sh
# Runs the kernel tests, and those of trees and their files, on the package with the sanitized module in place of the released one.
set -eu
stage=build/sanitize/stage
rm -rf "$stage" && mkdir -p "$stage"
cp -r src/tacit "$stage/" && rm -f "$stage"/tacit/_core*.so
cp build/sanitize/_core*.so "$stage/tacit/"
# The interpreter is not instrumented, so the runtime has to come first; its own leaks are not ours.
run() {
  LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so) $(c++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:strict_init_order=1 UBSAN_OPTIONS=print_stacktrace=1 \
  TACIT_STAGE="$PWD/$stage" \
  "$BIN/python" -c '
import os, sys
stage = os.environ["TACIT_STAGE"]
sys.meta_path = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
sys.path.insert(0, stage)
import tacit
assert tacit.__file__.startswith(stage), tacit.__file__
import pytest
options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
sys.exit(pytest.main(options + sys.argv[1:]))
' "$@"
}
# In two halves at once: sanitized code is slow, and a machine has two cores at least.
run tests/kernels/test_tree*.py tests/kernels/test_forest*.py tests/kernels/test_block*.py \
  tests/kernels/test_near*.py tests/kernels/test_cut*.py tests/kernels/test_smo*.py \
  tests/kernels/test_number*.py tests/counts/test_adtree.py tests/counts/test_adtree_files.py \
  tests/counts/test_adtree_blocks.py \
  tests/network/test_scores.py tests/network/test_search.py tests/network/test_chow_liu.py \
  tests/network/test_best_branching.py tests/network/test_bits.py tests/network/test_junction.py &
half=$!
status=0
run tests/kernels --ignore-glob='*/test_tree*' --ignore-glob='*/test_forest*' \
  --ignore-glob='*/test_block*' --ignore-glob='*/test_near*' --ignore-glob='*/test_cut*' \
  --ignore-glob='*/test_smo*' --ignore-glob='*/test_number*' || status=1
wait $half || status=1
exit $status
