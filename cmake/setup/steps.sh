# Says what is being done and how long it took. Sourced by ./run.

say() { echo "== $*" >&2; }

fail() {
  echo "run: $*" >&2
  exit 1
}

step() { # TITLE COMMAND...: runs the command; its time is also kept for the table of `test`
  local title=$1 start=$SECONDS
  shift
  say "$title"
  "$@" || fail "$title: failed after $((SECONDS - start)) s"
  last_step_seconds=$((SECONDS - start))
  say "$title: $last_step_seconds s"
}

# A stamp is a file that holds the fingerprint of what it was made from.
stamped() { # NAME FINGERPRINT
  [ "$(cat ".deps/.stamp-$1" 2>/dev/null)" = "$2" ]
}

stamp() { # NAME FINGERPRINT
  mkdir -p .deps
  echo "$2" >".deps/.stamp-$1"
}

fingerprint() { # FILES...
  cat "$@" | cksum
}
