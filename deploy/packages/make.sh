#!/usr/bin/env bash
# Makes packages of a build of this clone; ./run package calls it.
#   make.sh OUT [KIND...]
# KIND is a file of kinds/; without one, `all_kinds` of common.sh. A kind leaves its files in OUT.
# The same commit gives the same bytes, in whatever folder the clone lies.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
kinds=("$@")
if [ ${#kinds[@]} -eq 0 ]; then kinds=("${all_kinds[@]}"); fi
for kind in "${kinds[@]}"; do
  if [ ! -e "$here/kinds/$kind.sh" ]; then
    echo "make.sh: there is no kind '$kind' of package, only: ${all_kinds[*]} ${named_kinds[*]}" >&2
    exit 2
  fi
done
for kind in "${kinds[@]}"; do
  . "$here/kinds/$kind.sh"
  "make_$kind"
done
write_bill
write_sums
