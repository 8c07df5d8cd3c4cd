#!/usr/bin/env python3
"""Holds #include lines and linked binaries to the table of cmake/Layering.cmake, and the table
to the #include lines.

layering_test.py [--binaries BUILD/bin] [--self-test]
"""
import pathlib
import re
import subprocess
import sys

import tree

# What an #include line names, by its first folder. Abseil is the common vocabulary of all code.
LIBRARIES = {
    "grpc": "grpc", "grpcpp": "grpc", "google": "protobuf", "torch": "torch", "ATen": "torch",
    "c10": "torch", "prometheus": "prometheus",
    "spdlog": "spdlog", "fmt": "spdlog", "CLI": "cli11",
    "nlohmann": "json", "simdjson.h": "simdjson", "openssl": "openssl", "zlib.h": "zlib",
    "boost": "boost", "curl": "curl",
    "nghttp2": "nghttp2",
}
FRONT_ONLY = {"grpc", "protobuf", "prometheus", "proto", "openssl",
              "zlib", "simdjson", "boost", "curl", "nghttp2"}

# What a top folder must never name, whatever the table says of the folders in it: libraries, and
# other top folders.
FORBIDDEN_TARGETS = {
    "proto": {"torch", "prometheus", "boost"}, "text": FRONT_ONLY | {"torch"},
    "worker": FRONT_ONLY, "server": {"torch", "grpc"},
    "copier": FRONT_ONLY | {"torch"}, "client": {"torch"}, "load_tests": set(), "tests": set(),
}
FORBIDDEN_FOLDERS = {
    "proto": {"text", "server", "worker", "copier", "client", "load_tests", "tests"},
    "text": {"server", "worker", "copier", "client", "load_tests", "tests"},
    "worker": {"server", "copier", "client", "load_tests", "tests"},
    "server": {"worker", "copier", "client", "load_tests", "tests"},
    "copier": {"server", "worker", "client", "load_tests", "tests"},
    "client": {"server", "worker", "copier", "load_tests", "tests"},
    "load_tests": {"tests"},
    "tests": set(),
}
# One program serves and has the verbs that talk to a server; its main() wires both.
MAY_NAME_CLIENT = "server/main.cc"

FORBIDDEN_LIBRARIES = {
    "mpsd": r"libtorch|libc10|libcuda",
    "mpsd-worker": r"libgrpc|libgpr|libprotobuf|libprometheus|libsimdjson",
    "mpsd-worker-synthetic": r"libgrpc|libgpr|libprotobuf|libtorch|libc10|libcuda",
    "mpsd-device-copier": r"libgrpc|libgpr|libprotobuf|libtorch|libc10|libcuda",
}
FORBIDDEN_SYMBOLS = {
    "mpsd": r"_ZNK?(2at|3c10|5torch)\d",
    "mpsd-worker": r"_ZNK?(4grpc|6google8protobuf|10prometheus)\d",
    "mpsd-worker-synthetic": r"_ZNK?(4grpc|6google8protobuf|2at|3c10|5torch)\d",
    "mpsd-device-copier": r"_ZNK?(4grpc|6google8protobuf|2at|3c10|5torch)\d",
}
# A build without libtorch has no second program: the first one has no libtorch either.
ONLY_WITH_TORCH = "mpsd-worker-synthetic"


def read_table(root):
    """{library: the names it may use} from cmake/Layering.cmake."""
    text = (root / "cmake/Layering.cmake").read_text()
    return {name: set(edges.split())
            for name, edges in re.findall(r"set\(MPSD_EDGES_(\w+)([^)]*)\)", text)}


def read_libraries(root):
    """{source path without its suffix: library} from the mpsd_library() calls."""
    owners = {}
    for path in tree.files(root, "CMakeLists.txt"):
        for body in re.findall(r"^mpsd_library\(([^)]*)\)", path.read_text(), re.MULTILINE):
            words = body.split()
            for word in words[1:words.index("DEPS") if "DEPS" in words else None]:
                source = (path.parent / word).relative_to(root)
                owners[str(source.with_suffix(""))] = words[0]
    return owners


def owner_of(path, table, owners):
    """The library that a file of ours is in; None where the table does not know it."""
    if re.search(r"\.pb\.h$", str(path)):
        return "proto"
    known = owners.get(str(path.with_suffix("")))
    if known:
        return known
    folders = path.parts[1:-1]
    for depth in range(len(folders), 0, -1):
        if "_".join(folders[:depth]) in table:
            return "_".join(folders[:depth])
    return path.parts[0] if path.parts[0] in table else None


def target_of(include, table, owners):
    """What an #include line names: a library of the table, or a top folder of ours."""
    parts = include.parts
    if parts[0] in LIBRARIES:
        return LIBRARIES[parts[0]]
    if parts[0] in ("proto", "text", "server", "worker", "copier", "client"):
        return owner_of(include, table, owners) or parts[0]
    return parts[0] if parts[0] in ("tests", "load_tests") else None


def check_include(path, include, table, owners):
    """The complaint about one #include line, or None."""
    top = path.parts[0]
    if top not in FORBIDDEN_TARGETS:
        return None
    target = target_of(include, table, owners)
    if target is None:
        return None
    first = include.parts[0]
    if first == "client" and str(path) == MAY_NAME_CLIENT:
        return None
    if target in FORBIDDEN_TARGETS[top] or first in FORBIDDEN_FOLDERS[top]:
        return f"{top}/ must not include {include}"
    owner = owner_of(path, table, owners)
    if top == "tests" or owner is None or owner == target:
        return None
    if target in table or target in LIBRARIES.values():
        if target not in table.get(owner, set()):
            return f"'{owner}' must not name '{target}' ({include}; see cmake/Layering.cmake)"
    return None


def check_sources(root):
    table, owners = read_table(root), read_libraries(root)
    complaints = []
    for file in tree.files(root, ".h", ".cc"):
        path = file.relative_to(root)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
            complaint = match and check_include(path, pathlib.PurePath(match[1]), table, owners)
            if complaint:
                complaints.append(f"{path}:{number}: {complaint}")
    return complaints


# Not to be seen in #include lines: Abseil is everybody's, the system's libraries are linked, and
# the generated code has no sources here.
NEEDS_NO_INCLUDE = {"absl", "platform_libs"}
GENERATED = {"proto"}


def check_edges(root):
    """Complains of each edge of the table that no #include line uses."""
    table, owners = read_table(root), read_libraries(root)
    used = {name: set() for name in table}
    for file in tree.files(root, ".h", ".cc"):
        path = file.relative_to(root)
        owner = None if path.parts[0] in ("tests", "load_tests") else owner_of(path, table, owners)
        if owner is None:
            continue
        for include in re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', file.read_text(), re.M):
            used[owner].add(target_of(pathlib.PurePath(include), table, owners))
    return [f"cmake/Layering.cmake: no #include of '{name}' uses its edge to '{edge}'"
            for name in sorted(table.keys() - GENERATED)
            for edge in sorted(table[name] - used[name] - NEEDS_NO_INCLUDE)]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def links_torch(program):
    return "libtorch" in output_of("ldd", program)


def check_binaries(folder):
    complaints = []
    for name, pattern in FORBIDDEN_LIBRARIES.items():
        if name == ONLY_WITH_TORCH and not links_torch(f"{folder}/mpsd-worker"):
            continue
        for line in output_of("ldd", f"{folder}/{name}").splitlines():
            if re.search(pattern, line):
                complaints.append(f"{name} links {line.strip()}")
        symbols = output_of("nm", f"{folder}/{name}").split()
        bad = [s for s in symbols if re.match(FORBIDDEN_SYMBOLS[name], s)]
        if bad:
            complaints.append(f"{name} has {len(bad)} symbols such as {bad[0]}")
    return complaints


def check(root, binaries=None):
    return check_binaries(binaries) if binaries else check_sources(root) + check_edges(root)


TABLE = """set(MPSD_EDGES_base absl)
set(MPSD_EDGES_proto protobuf grpc)
set(MPSD_EDGES_batch base)
set(MPSD_EDGES_config base json)
set(MPSD_EDGES_door base proto
                    protobuf)
set(MPSD_EDGES_model base)
set(MPSD_EDGES_model_torch base model torch)
"""


def self_test():
    def planted(path, include, *wanted):
        contents = {"cmake/Layering.cmake": TABLE, path: f"#include {include}\n",
                    "server/CMakeLists.txt": "mpsd_library(daemon daemon.cc DEPS base config)\n"}
        tree.expect(check_sources, contents, *wanted)

    planted("server/batch/a.cc", '"proto/base/clock.h"')
    planted("server/batch/a.cc", '"absl/status/status.h"')
    planted("server/batch/a.cc", "<vector>")
    planted("server/door/a.cc", '"proto/inference.pb.h"')
    planted("server/door/a.cc", "<grpcpp/grpcpp.h>", "server/ must not include grpcpp")
    planted("server/config/config_reader.h", "<nlohmann/json.hpp>")
    planted("tests/batch/a.cc", '"worker/model/model.h"')
    planted("server/main.cc", "<torch/script.h>", "server/ must not include torch")
    planted("server/batch/a.cc", '"server/door/b.h"', "'batch' must not name 'door'")
    planted("server/batch/a.cc", '"worker/model/model.h"', "must not include worker/")
    planted("server/config/config_reader.cc", "<torch/script.h>", "must not include torch")
    planted("worker/model/torch/a.h", "<torch/script.h>")
    planted("worker/model/torch/a.h", '"worker/model/model.h"')
    planted("worker/model/a.h", "<torch/script.h>", "'model' must not name 'torch'")
    planted("worker/model/a.h", '"worker/model/torch/b.h"', "'model' must not name 'model_torch'")
    planted("server/main.cc", '"client/cli/verbs.h"')
    planted("server/daemon.cc", '"client/cli/verbs.h"', "server/ must not include client/")
    planted("proto/base/a.h", "<nlohmann/json.hpp>", "'base' must not name 'json'")
    planted("worker/model/a.cc", "<grpcpp/grpcpp.h>", "worker/ must not include grpcpp")
    planted("worker/model/a.cc", "<google/protobuf/message.h>", "worker/ must not include google")
    planted("worker/tools/a.cc", "<prometheus/counter.h>", "worker/ must not include prometheus")
    planted("worker/main.cc", '"server/config/config.h"', "worker/ must not include server/")
    planted("client/a.cc", '"server/config/config.h"', "client/ must not include server/")
    planted("text/unicode/a.cc", '"server/config/config.h"', "text/ must not include server/")
    planted("text/unicode/a.cc", "<grpcpp/grpcpp.h>", "text/ must not include grpcpp")
    planted("proto/base/a.cc", '"tests/fakes/clock.h"', "proto/ must not include tests/")
    planted("server/batch/a.cc", '"server/config/config_reader.h"', "'batch' must not name 'config'")
    edges = {"cmake/Layering.cmake": "set(MPSD_EDGES_base absl)\nset(MPSD_EDGES_batch base json absl)",
             "server/batch/a.h": '#include "proto/base/clock.h"\n'}
    tree.expect(check_edges, edges, "no #include of 'batch' uses its edge to 'json'")
    edges["server/batch/a.cc"] = "#include <nlohmann/json.hpp>\n"
    tree.expect(check_edges, edges)
    assert re.search(FORBIDDEN_LIBRARIES["mpsd"], "libtorch_cpu.so => /x/libtorch_cpu.so (0x1)")
    assert re.match(FORBIDDEN_SYMBOLS["mpsd-worker"], "_ZN4grpc6Server5StartEv")
    assert re.match(FORBIDDEN_SYMBOLS["mpsd"], "_ZNK2at6Tensor3sumEv")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, binaries="check the binaries of this folder instead"))
