#!/usr/bin/env bash
# Measures the ceilings of this machine and the daemon, in one run: `./run bench`.
# Arguments go to bench.py; --help lists them.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/bench.py" "$@"
