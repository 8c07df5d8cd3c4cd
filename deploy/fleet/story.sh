#!/usr/bin/env bash
# The whole story of docs/fleet.md from a fresh clone: fetches and builds what it needs, then runs story.py.
exec "$(dirname "${BASH_SOURCE[0]}")/../../run" fleet "$@"
