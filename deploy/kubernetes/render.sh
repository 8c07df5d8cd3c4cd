#!/usr/bin/env bash
# Writes the base of kustomize from the chart with its default values, so that both are one text.
#   render.sh [FOLDER]
# FOLDER is `base` beside this script unless another is named. HELM names the program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mkdir -p "${1:-$here/base}" && cd "${1:-$here/base}" && pwd)
helm=${HELM:-helm}

# kustomize makes the ConfigMap itself, with a name for each content: another config makes other pods.
"$helm" template mpsd "$here/chart" --show-only templates/config.yaml |
  sed -n '/^  mpsd.json: |/,$ s/^    //p' >"$folder/mpsd.json"
"$helm" template mpsd "$here/chart" --set configMap=mpsd >"$folder/mpsd.yaml"
