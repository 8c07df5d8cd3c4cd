#!/usr/bin/env python3
"""Our .proto files against the descriptors inside tritonclient: names, numbers, types, labels.

Everything that the client knows must be in ours, in the same way. Ours may hold more only where
EXTENSIONS says so: what the protocol has and this client does not.
"""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
EXTENSIONS = {"inference.ModelMetadataResponse.properties"}


def enter_venv(root):
    """Runs this script again under the environment that has tritonclient, where there is one."""
    if importlib.util.find_spec("tritonclient"):
        return
    venv = pathlib.Path(os.environ.get("MPSD_VENV") or root / ".deps/venv")
    python = venv / "bin/python"
    if os.environ.get("MPSD_IN_VENV") or not python.exists():
        print("skipped: no environment with tritonclient (MPSD_VENV, .deps/venv)")
        sys.exit(SKIPPED)
    os.execve(python, [str(python), *sys.argv], {**os.environ, "MPSD_IN_VENV": "1"})


def compile_ours(protoc, root):
    from google.protobuf import descriptor_pb2
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "set.pb"
        subprocess.run([protoc, f"--proto_path={root}", f"--descriptor_set_out={out}",
                        "--include_imports", str(root / "proto/inference.proto")], check=True)
        return list(descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file)


def reference_files():
    from google.protobuf import descriptor_pb2
    from tritonclient.grpc import model_config_pb2, service_pb2
    files = []
    for module in (model_config_pb2, service_pb2):
        proto = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(proto)
        files.append(proto)
    return files


def flatten_message(message, scope, facts):
    name = f"{scope}.{message.name}"
    facts[name] = "message, map entry" if message.options.map_entry else "message"
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
        facts[f"{name}.{field.name}"] = (
            f"number {field.number}, type {field.type} {field.type_name}, label {field.label}, "
            f"oneof '{oneof}', proto3 optional {field.proto3_optional}")
    for enum in message.enum_type:
        flatten_enum(enum, name, facts)
    for nested in message.nested_type:
        flatten_message(nested, name, facts)


def flatten_enum(enum, scope, facts):
    facts[f"{scope}.{enum.name}"] = "enum"
    for value in enum.value:
        facts[f"{scope}.{enum.name}.{value.name}"] = f"value {value.number}"


def flatten(files):
    """Each thing's full name, with all that the wire and a reflecting client see of it."""
    facts = {}
    for file in files:
        facts[f"syntax of {file.package}"] = file.syntax
        for message in file.message_type:
            flatten_message(message, file.package, facts)
        for enum in file.enum_type:
            flatten_enum(enum, file.package, facts)
        for service in file.service:
            for method in service.method:
                facts[f"{file.package}.{service.name}/{method.name}"] = (
                    f"{method.input_type} (stream {method.client_streaming}) -> "
                    f"{method.output_type} (stream {method.server_streaming})")
    return facts


def compare(ours, reference):
    complaints = []
    for name, fact in sorted(reference.items()):
        if name not in ours:
            complaints.append(f"{name}: missing; the client has {fact}")
        elif ours[name] != fact:
            complaints.append(f"{name}: {ours[name]}; the client has {fact}")
    for name in sorted(ours.keys() - reference.keys()):
        entry = name.split(".PropertiesEntry")[0]
        if name not in EXTENSIONS and f"{entry}.properties" not in EXTENSIONS:
            complaints.append(f"{name}: the client does not know it, EXTENSIONS does not list it")
    return complaints


def self_test(ours, reference):
    """Shows that each kind of difference is found."""
    field = "inference.ModelInferRequest.raw_input_contents"
    assert ours[field].startswith("number 7, ")
    planted = [
        ({**ours, field: ours[field].replace("number 7", "number 8")}, field),
        ({key: value for key, value in ours.items() if key != field}, field),
        ({**ours, "inference.ServerLiveRequest.extra": "number 1"}, "ServerLiveRequest.extra"),
        ({**ours, "inference.DataType.TYPE_BF16": "value 15"}, "TYPE_BF16"),
        ({**ours, "inference.GRPCInferenceService/ModelInfer": "x"}, "Service/ModelInfer"),
    ]
    for facts, wanted in planted:
        found = compare(facts, reference)
        if len(found) != 1 or wanted not in found[0]:
            sys.exit(f"planted a fault in {wanted}, but found {found}")
    print(f"{len(planted)} planted faults were found")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    enter_venv(arguments.root)

    ours = flatten(compile_ours(arguments.protoc, arguments.root))
    reference = flatten(reference_files())
    if arguments.self_test:
        self_test(ours, reference)
        return
    complaints = compare(ours, reference)
    print("\n".join(complaints) or f"{len(reference)} names agree")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
