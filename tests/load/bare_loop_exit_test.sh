#!/usr/bin/env bash
# mpsd-bare-loop ends with 65 and one line that names the file for a model that it cannot run.
#   bare_loop_exit_test.sh BIN MODEL
# MODEL is a TorchScript archive whose input is not FP32[1,2,3,4,5].
set -uo pipefail
loop=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

expect() { # TEXT MODEL
  local output code
  output=$("$loop" --model "$2" --input 'FP32[1,2,3,4,5]' --batches 1 --runs 1 --seconds 0.01 2>&1)
  code=$?
  if [ "$code" != 65 ] || [[ "$output" != "mpsd-bare-loop: $2: "*"$1"* ]] ||
    [ "$(wc -l <<<"$output")" != 1 ]; then
    echo "$2: wanted 65 and '$1', got $code and: $output"
    failures=$((failures + 1))
  fi
}

expect "" "$dir/none.pt"
echo 'no model' >"$dir/bad.pt"
expect "" "$dir/bad.pt"
if [ -e "$2" ]; then expect "" "$2"; fi

"$loop" --model x --input 'FP32[1,x]' >/dev/null 2>&1
if [ $? -gt 127 ]; then
  echo "an input that is none ends in a signal"
  failures=$((failures + 1))
fi
exit $((failures > 0))
