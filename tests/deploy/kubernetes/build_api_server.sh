#!/bin/bash
# Builds kube-apiserver into .deps/clients, for tests/deploy/api_server_test.py. By hand: Go needs half an hour on two
# cores. Kubernetes' own module replaces its parts by folders of its own, which a release does not have. So a module of
# ours replaces them by their releases.
set -euo pipefail
version=1.35.4
clients="$(cd "$(dirname "$0")/../../.." && pwd)/.deps/clients"
folder="$clients/kube_apiserver-$version"
mkdir -p "$folder/source"
cd "$folder/source"
export GOTOOLCHAIN=local GOFLAGS="-p=1 -mod=mod"
[[ -f go.mod ]] || go mod init kubernetes_parts 2> /dev/null
kubernetes=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
{
  echo "module kubernetes_parts"
  sed '/^module/d; /^godebug/d; /^replace/,$d' "$kubernetes/go.mod"
  echo "require k8s.io/kubernetes v$version"
  sed -nE "s|^\t(k8s.io/[^ ]+) => ./staging.*|replace \1 => \1 v0.${version#*.}|p" "$kubernetes/go.mod"
} > go.mod
cp "$kubernetes/go.sum" go.sum
flags="-s -w -X k8s.io/component-base/version.gitVersion=v$version -X k8s.io/component-base/version.gitMajor=1"
nice -n 10 go build -ldflags "$flags -X k8s.io/component-base/version.gitMinor=${version:2:2}" \
  -o ../kube_apiserver k8s.io/kubernetes/cmd/kube-apiserver
