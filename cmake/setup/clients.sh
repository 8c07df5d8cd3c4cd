# Clients of the protocol that are programs, for tests/compat. Sourced by ./run.

need_clients() {
  local made_from
  made_from=$(fingerprint tests/compat/fetch_clients.sh tests/compat/go/* tests/compat/collector/* \
    tests/compat/interop/go/* tests/compat/node/* tests/deploy/kubernetes/package*.json)
  if stamped clients "$made_from" && [ -d .deps/clients ]; then return 0; fi
  step "clients of the protocol in .deps/clients" fetch_clients "$made_from"
}

# What cannot be had is named, and its tests are skipped; the next time it is tried again.
fetch_clients() { # FINGERPRINT
  local limit=
  if command -v timeout >/dev/null; then limit="timeout 1200"; fi
  # shellcheck disable=SC2086 # two words, or none
  if $limit tests/compat/fetch_clients.sh .deps/clients; then stamp clients "$1"; fi
}
