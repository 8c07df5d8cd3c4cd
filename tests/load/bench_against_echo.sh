#!/bin/sh
# mpsd-bench against mpsd-echo: every call answered and checked, wrong answers and failures noticed.
# Usage: bench_against_echo.sh MPSD_BENCH MPSD_ECHO [MPSD_H2_ECHO]
set -eu
bench=$1
echo_server=$2
folder=$(mktemp -d)
"$echo_server" --listen "unix:$folder/echo.sock" --lifetime 50 >"$folder/unix" &
unix_pid=$!
"$echo_server" --listen 127.0.0.1:0 --lifetime 50 >"$folder/tcp" &
tcp_pid=$!
h2_pid=
if [ $# -gt 2 ]; then
  "$3" --lifetime 50 >"$folder/h2" &
  h2_pid=$!
fi
trap 'kill $unix_pid $tcp_pid $h2_pid 2>/dev/null || true; rm -rf "$folder"' EXIT

address() {
  for _ in $(seq 300); do
    if grep -q listening "$1"; then sed 's/listening //' "$1"; return; fi
    sleep 0.1
  done
  echo "no echo server came up" >&2
  return 1
}
tcp=$(address "$folder/tcp")
unix=$(address "$folder/unix")

expect() {
  wanted=$1
  shift
  status=0
  "$bench" "$@" >"$folder/report" 2>&1 || status=$?
  if [ "$status" -ne "$wanted" ]; then
    echo "exit status $status instead of $wanted: mpsd-bench $*"
    cat "$folder/report"
    exit 1
  fi
}

# A busy host sends the last calls of a rate too late, which the exit status tells as a failure: so a
# run with a rate is judged by its report.
expect_rate() {
  expect 0 "$@" --allow-errors --json
  grep -q '"errors":{}' "$folder/report"
  grep -q '"wrong":0' "$folder/report"
  if grep -q '"answered":0,' "$folder/report"; then cat "$folder/report"; exit 1; fi
}

expect 0 --target "$tcp" --input 'INPUT0:FP32[1,256]' --echo --requests 200 --concurrency 8 \
  --pid "echo=$tcp_pid"
grep -q '200 answered' "$folder/report"
if [ -n "$h2_pid" ]; then
  h2=$(address "$folder/h2")
  expect 0 --target "$h2" --input 'INPUT0:FP32[1,150528]' --echo --requests 200 --concurrency 8
  grep -q '200 answered' "$folder/report"
fi
expect 0 --target "$unix" --input 'ids:INT64[1,-1]=0..1000' --input 'mask:INT64[1,-1]=1' \
  --lengths 8,16,30,100 --echo --requests 200 --concurrency 16 --threads 2 --channels 2 --json
grep -q '"answered":200' "$folder/report"
expect_rate --target "$unix" --input 'INPUT0:FP32[1,256]' --echo --rate 500 --burst 4 \
  --duration 200ms --warmup 0
expect_rate --target "$unix" --input 'INPUT0:FP32[1,256]' --echo --rate 500 --cv 4 --on 50ms \
  --off 20ms --duration 200ms --warmup 0 --threads 2 --timeline 50ms
grep -q '"span_s":0.05' "$folder/report"
# A bin of 100 ms for each row; 30 + 20 calls of m, again and again, 250 of them in one second.
printf 'bin,model,calls\n0,m,30\n0,other,500\n1,m,20\n' >"$folder/trace.csv"
expect_rate --target "$unix" --input 'INPUT0:FP32[1,256]' --echo --trace "$folder/trace.csv" \
  --where model=m --bin 100ms --duration 1s --warmup 0 --threads 2
grep -q '"rate":250.0' "$folder/report"
printf 'calls\n1\nx\n' >"$folder/wrong.csv"
# CLI11's exit status for a value that is not valid.
expect 105 --target "$unix" --input 'INPUT0:FP32[1,256]' --trace "$folder/wrong.csv"
grep -q 'wrong.csv: line 3' "$folder/report"
expect 105 --target "$unix" --input 'INPUT0:FP32[1,256]' --rate 5 --on 0 --off 1s
expect 105 --target "$unix" --input 'INPUT0:FP32[1,256]' --trace "$folder/trace.csv" --bin 0
# And for flags that go with others alone.
expect 107 --target "$unix" --input 'INPUT0:FP32[1,256]' --cv 4
expect 107 --target "$unix" --input 'INPUT0:FP32[1,256]' --rate 5 --on 1s
expect 108 --target "$unix" --input 'INPUT0:FP32[1,256]' --rate 5 --trace "$folder/trace.csv"
# CLI11's exit status for an option out of its range.
expect 105 --target "$unix" --input 'INPUT0:FP32[1,256]' --rate 1e30 --duration 100ms
# An echo's answer is no answer of an identity model, and nobody listens on the last address.
expect 1 --target "$tcp" --input 'INPUT0:FP32[1,256]' --verify-identity --requests 20
expect 69 --target "unix:$folder/nobody.sock" --input 'INPUT0:FP32[1,256]' --requests 1 \
  --connect 300ms
