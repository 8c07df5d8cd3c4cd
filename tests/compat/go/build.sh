#!/usr/bin/env bash
# Builds the client from the present .proto files: build.sh FOLDER. FOLDER gets the
# plugins of protoc, the stubs and the program `go_infer`. Every version is pinned in go.mod.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false

cp "$here"/go.mod "$here"/go.sum "$here"/*.go "$folder"
cd "$folder"
GOBIN=$folder/plugins go install tool
stubs=mpsd.test/infer/inference
files=(proto/inference.proto proto/model_config.proto)
options=(module=mpsd.test/infer)
for file in "${files[@]}"; do options+=("M$file=$stubs"); done
all=$(IFS=, && echo "${options[*]}")
PATH=$folder/plugins:$PATH protoc -I "$root" --go_out=. --go_opt="$all" --go-grpc_out=. \
  --go-grpc_opt="$all" "${files[@]}"
go build -o go_infer .
