#!/usr/bin/env bash
# The ceilings of this machine and the daemon beside them, in one run: `./run bench`.
# Arguments go to bench.py; --help lists them.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/bench.py" "$@"
