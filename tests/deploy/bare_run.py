"""`./run` in a folder that holds chosen files alone, with stand-ins for what installs or compiles.

A stand-in looks only whether the files that it is given exist.
"""
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 60
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

STAND_INS = {
    "dpkg-query": 'for name in "${@:4}"; do echo -n "installed/$name "; done',
    "apt-get": "exit 1",
    "cmake": '[ "$1" != --preset ] || mkdir -p "build/$2"',
    "python3": '[ "$1 $2" = "-m venv" ] && mkdir -p "$3/bin" && cp "$(dirname "$0")/venv_python" '
               '"$3/bin/python"',
    # pip install ... -r FILE, or a package by its name
    "venv_python": 'case " $* " in *" -r "*) cat "${@: -1}" >/dev/null ;; esac',
    # env GOVERSION; install tool, which makes these three; build [...] -o NAME PACKAGE
    "go": 'made=("${@: -2:1}"); case $1 in env) echo go1.999; exit ;; '
          'install) mkdir -p "$GOBIN"; made=("$GOBIN"/{client,protoc-gen-go,protoc-gen-go-grpc}) ;; '
          'esac; for it in "${made[@]}"; do echo "#" >"$it"; chmod +x "$it"; done',
    "node": "echo v99.0.0",
    "npm": "cat package.json package-lock.json >/dev/null",
    # The real one, for what the files import, without the plugins that are not there.
    "protoc": f"exec {shutil.which('protoc')} -I \"$2\" --descriptor_set_out=/dev/null "
              '"${@: -2}"',
}


def copy(copies, folder):
    """As COPY does: a folder's content into the target, a file under the target's name or in it."""
    for *sources, target in copies:
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, folder / target, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__"))
                continue
            place = folder / target / pathlib.Path(source).name if target.endswith("/") \
                else folder / target
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, place)


def run(copies, *arguments):
    """(what went wrong, names in .deps): empty if nothing did. `copies`: [[SOURCE..., TARGET]]."""
    with tempfile.TemporaryDirectory(prefix="mpsd-run-") as work:
        folder, programs = pathlib.Path(work) / "mpsd", pathlib.Path(work) / "programs"
        programs.mkdir()
        for name, script in STAND_INS.items():
            (programs / name).write_text(f"#!/usr/bin/env bash\nset -eu\n{script}\n")
            (programs / name).chmod(0o755)
        copy(copies, folder)
        script = folder / "cmake/setup/libtorch.sh"
        if script.exists():  # libtorch is there already: it is named by no file of ours
            version = re.search(r"^version=(\S+)$", script.read_text(), re.M)[1]
            (folder / ".deps/libtorch/lib").mkdir(parents=True)
            (folder / f".deps/libtorch/.complete-{version}-headers").touch()
        try:
            done = subprocess.run(["./run", *arguments], cwd=folder, capture_output=True, text=True,
                                  env={"PATH": f"{programs}:{SYSTEM_PATH}", "HOME": work},
                                  timeout=LIMIT_S, check=False)
        except FileNotFoundError as error:
            return str(error), set()
        complaints = [line for line in done.stderr.splitlines()
                      if not line.startswith("== ") and "no perf_analyzer" not in line]
        if done.returncode != 0:
            complaints.append(f"exit code {done.returncode}")
        return "\n".join(complaints), {path.name for path in (folder / ".deps").glob("*")}
