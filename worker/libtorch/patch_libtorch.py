#!/usr/bin/env python3
"""Edits a copy of PyTorch's sources so that several threads may use mps. README.md says why each.

patch_libtorch.py SOURCE
patch_libtorch.py --headers INCLUDE TARGET
patch_libtorch.py --list

Each edit finds its place by a pattern, which must match as often as the edit says; one that does
not changes no file. Nothing of PyTorch is kept here. A second run is refused. --headers reads the
headers of a libtorch that is built, INCLUDE, and writes edited copies of some below TARGET.
"""
import argparse
import pathlib
import re
import sys

SOURCES = "aten/src/"
MPS = "aten/src/ATen/mps"
NATIVE = "aten/src/ATen/native/mps"
MARK = "// Edited for mpsd: "


class Edit:
    """One fault's remedy in one file: every match of `pattern` becomes `text`."""

    def __init__(self, name, path, pattern, text, least=1, most=1):
        self.name = name
        self.path = path
        self.pattern = re.compile(pattern, re.MULTILINE)
        self.text = text
        self.least = least
        self.most = most

    def apply(self, text):
        """The edited text; ValueError where the pattern does not match as often as it must."""
        edited, count = self.pattern.subn(self.text, text)
        if not self.least <= count <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least}-{self.most}"
            raise ValueError(f"{self.name}: {self.path}: {count} places, not {wanted}")
        return edited


def include_mutex(name, path):
    """Where neither a condition nor a namespace is open: a header's pragma, or the first #include."""
    place = r"^(#pragma once\n)" if path.endswith(".h") else r"\A((?:(?!#).*\n)*)"
    return Edit(name, path, place, rf"\1{MARK}{name}\n#include <mutex>\n")


def lock_in(name, path, signature, mutex, most=1):
    """A lock as the first statement of a function, of which `signature` ends before its brace."""
    return Edit(name, path, rf"^({signature}\s*\{{\n)",
                rf"\1  const std::lock_guard<std::recursive_mutex> mpsd_lock({mutex});\n",
                most=most)


EDITS = (
    # One stream, made by whichever thread comes first.
    include_mutex("stream-once", f"{MPS}/MPSStream.mm"),
    Edit("stream-once", f"{MPS}/MPSStream.mm",
         r"^  if \(_stream == nullptr\) \{\n(\s*_stream =\s*new MPSStream\([^;]*\);)\n  \}\n",
         r"  static std::once_flag made;\n  std::call_once(made, [] {\n\1\n  });\n"),
    # A command buffer that was kept to be waited for, and is replaced before anybody waited.
    Edit("kept-buffer", f"{MPS}/MPSStream.mm",
         r"^(\s*)(_prevCommandBuffer = _commandBuffer;)\n",
         r"\1[_prevCommandBuffer release];\n\1\2\n"),
    # Command buffer and encoder, which calls outside of the stream's queue touch too.
    include_mutex("stream-state", f"{MPS}/MPSStream.h"),
    Edit("stream-state", f"{MPS}/MPSStream.h", r"^(  Stream _stream;\n)",
         r"\1  std::recursive_mutex _stateMutex;\n"),
    lock_in("stream-state", f"{MPS}/MPSStream.mm",
            r"MPSCommandBuffer\s*\* ?MPSStream::commandBuffer\(\)", "_stateMutex"),
    lock_in("stream-state", f"{MPS}/MPSStream.mm",
            r"id<MTLComputeCommandEncoder> MPSStream::commandEncoder\(\)", "_stateMutex"),
    lock_in("stream-state", f"{MPS}/MPSStream.mm",
            r"void MPSStream::synchronize\(SyncType syncType\)", "_stateMutex"),
    lock_in("stream-state", f"{MPS}/MPSStream.mm",
            r"void MPSStream::endKernelCoalescing\(\)", "_stateMutex"),
    # An event that names no stream is of the caller's, not of the first one.
    Edit("event-stream", f"{MPS}/MPSEvent.mm",
         r"^(\s*if \(!stream\) \{\n\s*stream = )m_default_stream;",
         r"\1getCurrentMPSStream();"),
    # A wait for a time that nobody takes; newer sources have no such wait.
    Edit("event-timing", f"{MPS}/MPSEvent.h", r"^(  void waitForCpuSync\(\);\n)",
         r"\1  bool mpsd_timed() const {\n    return m_enable_timing;\n  }\n", least=0),
    Edit("event-timing", f"{MPS}/MPSEvent.mm",
         r"^(  MPSEvent\* end_event = getInUseEvent\(end_event_id, false\);\n)"
         r"(?=(?:.*\n){0,6}  end_event->waitForCpuSync\(\);)",
         r"\1  TORCH_CHECK(start_event->mpsd_timed() && end_event->mpsd_timed(),\n"
         r'              "an event of the two was made without enable_timing");\n', least=0),
    # Graphs and kernels by key: each thread has its own.
    include_mutex("thread-caches", f"{NATIVE}/OperationUtils.h"),
    Edit("thread-caches", f"{NATIVE}/OperationUtils.h",
         r"^    if \(_instance_cache == nullptr\) \{\n      _instance_cache = new (\w+)\(\);\n"
         r"    \}\n    return _instance_cache;\n",
         r"    static thread_local \1 cache;\n    return &cache;\n", most=2),
    # Shader libraries and pipelines by name, which threads compile and insert.
    include_mutex("shader-maps", f"{NATIVE}/MetalShaderLibrary.h"),
    Edit("shader-maps", f"{NATIVE}/MetalShaderLibrary.h",
         r"^(  MTLLibrary_t library = nullptr;\n)", r"\1  std::recursive_mutex lookupMutex;\n"),
    lock_in("shader-maps", f"{NATIVE}/OperationUtils.mm",
            r"id<MTLLibrary> MetalShaderLibrary::getLibrary\([^)]*\)", "lookupMutex", most=2),
    lock_in("shader-maps", f"{NATIVE}/OperationUtils.mm",
            r"std::pair<[^;{]*> MetalShaderLibrary::getLibraryPipelineState\([^)]*\)",
            "lookupMutex"),
    Edit("shader-maps", f"{NATIVE}/OperationUtils.mm",
         r"^(MetalKernelFunction\* MetalShaderLibrary::getCachedKernelFunctionPtr\([^)]*\) \{\n)",
         r"\1  const std::lock_guard<std::recursive_mutex> mpsd_lock(lookupMutex);\n", least=0),
    lock_in("shader-maps", f"{NATIVE}/OperationUtils.mm",
            r"  id<MTLLibrary> getLibrary\(\) override", "lookupMutex"),
)


def edited_texts(edits, place):
    """{path: edited text} of the files that `edits` name; `place` finds a path's file."""
    texts = {}
    for edit in edits:
        if edit.path not in texts:
            file = place(edit.path)
            if not file.is_file():
                raise ValueError(f"{edit.name}: there is no {edit.path}")
            texts[edit.path] = file.read_text()
            if MARK in texts[edit.path]:
                raise ValueError(f"{edit.path} is edited already")
        texts[edit.path] = edit.apply(texts[edit.path])
    return texts


def patch(source):
    """Edits the files of `source`, all or none. Returns the names of the edits."""
    for path, text in edited_texts(EDITS, lambda path: source / path).items():
        (source / path).write_text(text)
    return list(dict.fromkeys(edit.name for edit in EDITS))


def patch_headers(include, target):
    """Writes the edited headers of `include` below `target`, all or none. Returns their names."""
    edits = [edit for edit in EDITS if edit.path.endswith(".h")]
    texts = {path.removeprefix(SOURCES): text for path, text in
             edited_texts(edits, lambda path: include / path.removeprefix(SOURCES)).items()}
    for name, text in texts.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    return list(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=pathlib.Path, nargs="?")
    parser.add_argument("--headers", type=pathlib.Path, nargs=2, metavar=("INCLUDE", "TARGET"),
                        help="edit copies of the headers of a libtorch that is built")
    parser.add_argument("--list", action="store_true", help="print the edits, and change nothing")
    arguments = parser.parse_args()
    if arguments.list:
        for edit in EDITS:
            print(f"{edit.name}\t{edit.path}")
        return
    try:
        if arguments.headers is not None:
            print(f"patched: {', '.join(patch_headers(*arguments.headers))}")
        elif arguments.source is not None:
            print(f"patched: {', '.join(patch(arguments.source))}")
        else:
            parser.error("the folder of PyTorch's sources is missing")
    except ValueError as error:
        sys.exit(f"patch_libtorch.py: {error}; nothing was changed")


if __name__ == "__main__":
    main()
