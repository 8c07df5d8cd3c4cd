#!/usr/bin/env bash
# mpsd-import-bert ends with 64 for a wrong command line, and with 65 and one line that names the
# file for a folder that it cannot import.
#   import_bert_exit_test.sh BIN
set -uo pipefail
import=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

expect() { # EXIT-CODE TEXT ARGUMENTS...
  local wanted=$1 text=$2
  shift 2
  local output code
  output=$("$import" "$@" 2>&1)
  code=$?
  if [ "$code" != "$wanted" ] || [[ "$output" != *"$text"* ]] || [ "$(wc -l <<<"$output")" != 1 ]; then
    echo "mpsd-import-bert $*: wanted $wanted and '$text', got $code and: $output"
    failures=$((failures + 1))
  fi
}

config='{"model_type": "bert", "hidden_act": "gelu", "hidden_size": 4, "num_hidden_layers": 1,
  "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 10,
  "max_position_embeddings": 40, "type_vocab_size": 2}'

expect 64 "usage: mpsd-import-bert HF_DIR OUT.pt"
expect 64 "usage:" "$dir"
expect 65 "cannot read $dir/none/config.json" "$dir/none" "$dir/out.pt"
echo '{' >"$dir/config.json"
expect 65 "config.json: is no JSON object" "$dir" "$dir/out.pt"
echo "$config" >"$dir/config.json"
expect 65 "cannot read $dir/model.safetensors" "$dir" "$dir/out.pt"
echo 'short' >"$dir/model.safetensors"
expect 65 "model.safetensors: the file is too short for a header" "$dir" "$dir/out.pt"
printf '\2\0\0\0\0\0\0\0{}' >"$dir/model.safetensors"
expect 65 "model.safetensors: the tensor 'embeddings.word_embeddings.weight' is missing" \
  "$dir" "$dir/out.pt"
mkdir "$dir/1_Pooling"
echo '{"pooling_mode_max_tokens": true}' >"$dir/1_Pooling/config.json"
expect 65 "1_Pooling/config.json: the model pools by max_tokens" "$dir" "$dir/out.pt"
echo '[{"type": "sentence_transformers.models.Dense"}]' >"$dir/modules.json"
expect 65 "modules.json: the step Dense would be lost" "$dir" "$dir/out.pt"
echo "${config%\}}, \"architectures\": [\"BertForSequenceClassification\"]}" >"$dir/config.json"
expect 65 "not [\"BertForSequenceClassification\"]" "$dir" "$dir/out.pt"

if [ -e "$dir/out.pt" ]; then
  echo "a failed import left its output behind"
  failures=$((failures + 1))
fi
exit $((failures > 0))
