# What the checks inside a root share. Sourced there.

fail() {
  echo "check: $*" >&2
  exit 1
}

# Waits for a condition, and says which did not come.
wait_for() { # WHAT COMMAND...
  local what=$1
  shift
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.1
  done
  fail "$what did not come"
}

# The bare root has no curl; bash speaks enough HTTP.
http_status() { # PORT PATH: prints the number
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
  local line
  read -r line <&3
  exec 3>&-
  cut -d' ' -f2 <<<"$line"
}

is_ready() { [ "$(http_status 8002 /readyz 2>/dev/null)" = 200 ]; }

answers() { # MPSD: whether the model answers, with vectors of 384 numbers
  "$1" infer minilm --text 'How far is it to the sea?' 2>&1 | grep -q ' 384 '
}

# Every path that is named for mpsd, where a package or a daemon may leave some.
list_ours() {
  find / /run /dev/shm -xdev \( -path /srv -o -path /var/cache/apt -o -path /var/lib/apt \) -prune \
    -o -name '*mpsd*' -print | sort
}

write_config() { # FILE
  cat >"$1" <<'TEXT'
// changed by the operator
{"models": [{"name": "minilm", "path": "/srv/check/minilm"}]}
TEXT
}
