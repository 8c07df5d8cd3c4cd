#!/usr/bin/env python3
"""Edits a copy of PyTorch's sources so that several threads may use mps. README.md says why each.

patch_libtorch.py SOURCE
patch_libtorch.py --headers INCLUDE TARGET
patch_libtorch.py --list

Each edit finds its place by a pattern, which must match as often as the edit says; one that does
not changes no file. Nothing of PyTorch is kept here; files of our own are copied among its sources.
Sources that have a pool of streams keep theirs: the edits of ours are left out, and said. A second
run is refused. --headers reads the headers of a libtorch that is built, INCLUDE, and writes edited
copies of some below TARGET.
"""
import argparse
import pathlib
import re
import sys

SOURCES = "aten/src/"
MPS = "aten/src/ATen/mps"
NATIVE = "aten/src/ATen/native/mps"
TASKS = "aten/src/ATen/ParallelThreadPoolNative.cpp"
MARK = "// Edited for mpsd: "
HERE = pathlib.Path(__file__).resolve().parent

# Our own files, and what they are called among PyTorch's sources of mps: those of the pool of
# streams, and those of the caches.
POOL_FILES = {"stream_pool.h": "mpsd_stream_pool.h",
              "mps_stream_pool.h": "mpsd_mps_stream_pool.h",
              "mps_stream_pool.cc": "mpsd_mps_stream_pool.cpp"}
CACHE_FILES = {"cache_bound.h": "mpsd_cache_bound.h"}
OWN_POOL = "getStreamFromPool"  # a function of MPSStream.h in sources that have a pool


class Edit:
    """One fault's remedy in one file: every match of `pattern` becomes `text`.

    A file in which `fault` does not stand needs no edit.
    """

    def __init__(self, name, path, pattern, text, least=1, most=1, fault=""):
        self.name = name
        self.path = path
        self.pattern = re.compile(pattern, re.MULTILINE)
        self.text = text
        self.least = least
        self.most = most
        self.fault = fault

    def apply(self, text):
        """The edited text; ValueError where the pattern does not match as often as it must."""
        if self.fault not in text:
            return text
        edited, count = self.pattern.subn(self.text, text)
        self.demand(count, self.least, self.most)
        return edited

    def demand(self, count, least, most):
        if not least <= count <= most:
            wanted = str(least) if least == most else f"{least}-{most}"
            raise ValueError(f"{self.name}: {self.path}: {count} places, not {wanted}")


class FunctionEdit(Edit):
    """Changes within the one function whose head matches `head`: {pattern: (text, places)}."""

    def __init__(self, name, path, head, changes):
        super().__init__(name, path, rf"^{head}\s*\{{\n(?:(?!\}}).*\n)*\}}", self.change)
        self.changes = changes

    def change(self, function):
        text = function[0]
        for pattern, (new, places) in self.changes.items():
            text, count = re.subn(pattern, new, text, flags=re.MULTILINE)
            self.demand(count, places, places)
        return text


def include(name, path, header="<mutex>"):
    """Where neither a condition nor a namespace is open: a header's pragma, or the first #include."""
    place = r"^(#pragma once\n)" if path.endswith(".h") else r"\A((?:(?!#).*\n)*)"
    return Edit(name, path, place, rf"\1{MARK}{name}\n#include {header}\n")


def lock_in(name, path, signature, mutex, most=1):
    """A lock as the first statement of a function, of which `signature` ends before its brace."""
    return Edit(name, path, rf"^({signature}\s*\{{\n)",
                rf"\1  const std::lock_guard<std::recursive_mutex> mpsd_lock({mutex});\n",
                most=most)


def returned_stream(name, head, value):
    """One of c10's functions in MPSGuardImpl.h, which knows one stream, returns another value."""
    return Edit(name, f"{MPS}/MPSGuardImpl.h",
                rf"^(  Stream {head} const (?:noexcept )?override \{{\n"
                rf"(?:    \(void\)priority;\n)?)    return Stream\(Stream::DEFAULT, [^;]*;\n",
                value)


POOL_HEADER = f"<ATen/mps/{POOL_FILES['mps_stream_pool.h']}>"
WAIT_FOR_ALL = "MPSStreamPool::instance().waitForAll();"
STREAM_OF = ("Stream(\n        Stream::UNSAFE, Device(c10::DeviceType::MPS, 0), "
             "MPSStreamPool::instance()")

# The pool of streams, and what a libtorch with one stream need not think of.
POOL_EDITS = (
    # Which thread has which stream: mps_stream_pool.h.
    Edit("stream-pool", f"{MPS}/MPSStream.h", r"\Z",
         rf"\n{MARK}stream-pool\n#include {POOL_HEADER}\n"),
    Edit("stream-pool", f"{MPS}/MPSStream.mm",
         r"^  if \(_stream == nullptr\) \{\n\s*_stream =\s*new MPSStream\([^;]*\);\n  \}\n"
         r"  return _stream;\n",
         "  return MPSStreamPool::instance().stream(0);\n"),
    FunctionEdit("stream-pool", f"{MPS}/MPSStream.mm", r"MPSStream\* getCurrentMPSStream\(\)",
                 {r"getDefaultMPSStream\(\)": ("MPSStreamPool::instance().current()", 1)}),
    # What c10 asks of a device that has streams.
    returned_stream("stream-guard", r"getStream\(Device d\)",
                    r"\1    return MPSStreamPool::instance().current()->unwrap();\n"),
    returned_stream("stream-guard", r"getNewStream\(Device, int priority = 0\)",
                    rf"\1    return {STREAM_OF}.next());\n"),
    returned_stream("stream-guard", r"exchangeStream\(Stream s\)",
                    rf"\1    return {STREAM_OF}.exchange(s.id()));\n"),
    Edit("stream-guard", f"{MPS}/MPSGuardImpl.h",
         r"^(  void synchronizeDevice\(const DeviceIndex device_index\) const override;\n)",
         r"\1\n  void synchronizeStream(const Stream& stream) const override {\n"
         r"    auto& pool = MPSStreamPool::instance();\n"
         r"    pool.wait(pool.stream(stream.id()));\n  }\n"),
    Edit("stream-guard", f"{MPS}/MPSGuardImpl.mm", r"^  MPSStream mps_stream\{stream\};\n",
         "  const MPSStreamScope mpsd_scope(MPSStreamPool::instance().stream(stream.id()));\n",
         least=2, most=2),
    # Which streams commit in the middle of their work: the environment may say.
    Edit("commit-and-continue", f"{MPS}/MPSStream.mm",
         r"^(  _executionDescriptor\.enableCommitAndContinue = _enableCommitAndContinue;\n)",
         r"  _enableCommitAndContinue =\n"
         r"      _enableCommitAndContinue && MPSStreamPool::commitsAndContinues(_stream.id());\n\1"),
    # A wait for the device is one for all streams.
    FunctionEdit("stream-waits", f"{MPS}/MPSGuardImpl.mm",
                 r"void MPSGuardImpl::synchronizeDevice\([^)]*\) const",
                 {r"^  at::mps::getDefaultMPSStream\(\)->synchronize\([^)]*\);": (
                     f"  {WAIT_FOR_ALL}", 1)}),
    FunctionEdit("stream-waits", f"{MPS}/MPSHooks.mm",
                 r"void MPSHooks::deviceSynchronize\(\) const",
                 {r"^  at::mps::getDefaultMPSStream\(\)->synchronize\([^)]*\);": (
                     f"  {WAIT_FOR_ALL}", 1)}),
    FunctionEdit("stream-waits", f"{MPS}/MPSEvent.mm",
                 r"double MPSEventPool::elapsedTime\([^)]*\)",
                 {r"^  dispatch_sync(?:_with_rethrow)?\(m_default_stream->queue\(\), \^\(\) \{\n"
                  r"    m_default_stream->synchronize\([^)]*\);\n  \}\);": (
                      f"  {WAIT_FOR_ALL}", 1)}),
    FunctionEdit("stream-waits", f"{MPS}/MPSAllocator.mm",
                 r"bool MPSHeapAllocatorImpl::release_cached_buffers\(\)",
                 {r"^  auto stream = getDefaultMPSStream\(\);\n"
                  r"  dispatch_sync(?:_with_rethrow)?\(stream->queue\(\), \^\(\) \{\n"
                  r"    stream->synchronize\([^)]*\);\n  \}\);": (
                      "  MPSStreamPool::instance().waitForMemory();", 1)}),
    # Unused memory that the gpu still writes to gets a handler. In a block of the stream's queue the
    # handler is added at once: the queue would wait for itself.
    Edit("stream-waits", f"{MPS}/MPSStream.mm",
         r"^(void MPSStream::addCompletedHandler\(MTLCommandBufferHandler (\w+)\) \{\n)",
         r"\1  if (MPSStreamPool::isInQueueOf(this)) {\n"
         r"    [commandBuffer() addCompletedHandler:\2];\n    return;\n  }\n"),
    # Hooks and events are of the caller's stream.
    Edit("caller-stream", f"{MPS}/MPSHooks.mm",
         r"getDefaultMPSStream\(\)(?=->(?:synchronize\(SyncType::COMMIT\)|commandBuffer|queue))",
         "getCurrentMPSStream()", least=3, most=3),
    Edit("caller-stream", f"{MPS}/MPSEvent.mm",
         r"^(void MPSEvent::record\(bool needsLock, bool syncEvent\) \{\n)",
         r"\1  m_stream = getCurrentMPSStream();\n"),
    Edit("caller-stream", f"{MPS}/MPSEvent.h", r"^  bool waitLocked\(bool syncEvent\);\n",
         "  bool waitLocked(MPSStream* stream, bool syncEvent);\n"),
    FunctionEdit("caller-stream", f"{MPS}/MPSEvent.mm",
                 r"bool MPSEvent::waitLocked\(bool syncEvent\)",
                 {r"\(bool syncEvent\)": ("(MPSStream* stream, bool syncEvent)", 1),
                  r"\bm_stream->": ("stream->", 3)}),
    FunctionEdit("caller-stream", f"{MPS}/MPSEvent.mm",
                 r"bool MPSEvent::wait\(bool needsLock, bool syncEvent\)",
                 {r"^(bool .*\n)": (r"\1  MPSStream* stream = getCurrentMPSStream();\n", 1),
                  r"\bwaitLocked\(": ("waitLocked(stream, ", 2),
                  r"\bm_stream->": ("stream->", 1)}),
    # The one block in which the stream is looked up: a kernel's, of a library of shaders.
    FunctionEdit("block-stream", f"{NATIVE}/OperationUtils.mm",
                 r"void MetalKernelFunction::runCommandBlock\([^{]*\)",
                 {r"^  dispatch_sync_with_rethrow\(getCurrentMPSStream\(\)->queue\(\), \^\(\) \{\n": (
                     "  MPSStream* mpsd_stream = getCurrentMPSStream();\n"
                     "  dispatch_sync_with_rethrow(mpsd_stream->queue(), ^() {\n"
                     "    const at::mps::MPSStreamScope mpsd_scope(mpsd_stream);\n", 1)}),
    # What a model forks runs on libtorch's own threads, for the thread that has the stream.
    include("task-stream", TASKS, POOL_HEADER),
    Edit("task-stream", TASKS, r"^(void launch\(std::function<void\(\)> func\) \{\n)",
         r"\1#ifdef USE_MPS\n  auto& mpsd_pool = at::mps::MPSStreamPool::instance();\n"
         r"  if (mpsd_pool.held() >= 0) {\n"
         r"    func = [mpsd_task = std::move(func),\n"
         r"            mpsd_stream = mpsd_pool.stream(mpsd_pool.held())] {\n"
         r"      const at::mps::MPSStreamScope mpsd_scope(mpsd_stream);\n"
         r"      mpsd_task();\n    };\n  }\n#endif\n"),
    # A buffer that was freed while the gpu works with it belongs to the stream of that work.
    Edit("buffer-stream", f"{MPS}/MPSAllocator.h", r"^(  bool in_use = false;\n)",
         r"\1  int64_t mpsd_stream = -1; // of the thread that allocated and freed it, if one did both\n"
         r"  bool mpsd_busy_elsewhere() const {\n"
         r"    const auto held = MPSStreamPool::instance().held();\n"
         r"    return (held < 0 || mpsd_stream != held) && retainCount() > 1;\n  }\n"),
    Edit("buffer-stream", f"{MPS}/MPSAllocator.mm", r"^(  buffer_block->in_use = true;\n)",
         r"\1  buffer_block->mpsd_stream = MPSStreamPool::instance().held();\n"),
    Edit("buffer-stream", f"{MPS}/MPSAllocator.mm", r"^(  buffer_block->in_use = false;\n)",
         r"\1  if (buffer_block->mpsd_stream != MPSStreamPool::instance().held()) {\n"
         r"    buffer_block->mpsd_stream = -1;\n  }\n"),
    FunctionEdit("buffer-stream", f"{MPS}/MPSAllocator.mm",
                 r"bool MPSHeapAllocatorImpl::get_free_buffer\([^)]*\)",
                 {r"^(  auto it = pool\.available_buffers\.lower_bound\(&params\.search_key\);\n)": (
                     r"\1  while (it != pool.available_buffers.end() && (*it)->mpsd_busy_elsewhere()) {\n"
                     r"    ++it;\n  }\n", 1)}),
    Edit("buffer-stream", f"{MPS}/MPSAllocator.mm", r"\bm_stream->addCompletedHandler\(",
         "MPSStreamPool::instance().heldOrMain()->addCompletedHandler(", least=2, most=2),
    # These loops release the allocator's lock within, and another thread takes buffers away.
    FunctionEdit("buffer-loops", f"{MPS}/MPSAllocator.mm",
                 r"void MPSHeapAllocatorImpl::release_buffers\([^)]*\)",
                 {r"^    \+\+it;\n    release_buffer\(buffer_block\);\n": (
                     "    release_buffer(buffer_block);\n"
                     "    it = pool.available_buffers.begin();\n", 1)}),
    FunctionEdit("buffer-loops", f"{MPS}/MPSAllocator.mm",
                 r"bool MPSHeapAllocatorImpl::release_available_cached_buffers\([^)]*\)",
                 {r"^      if \(it != pool\.available_buffers\.begin\(\)\) \{\n        --it;\n"
                  r"        release_buffer\(\*cur\);\n      \} else \{\n"
                  r"        release_buffer\(\*cur\);\n        break;\n      \}\n": (
                      "      release_buffer(*cur);\n"
                      "      if (pool.available_buffers.empty()) {\n        break;\n      }\n"
                      "      it = std::prev(pool.available_buffers.end());\n", 1)}),
    # Kernels of Apple's framework that several threads may not encode at a time.
    Edit("linear-graphs", f"{NATIVE}/operations/Linear.mm",
         r"^  if \((is_macos_13_or_newer\([^{;]*)\) \{\n"
         r"(?=(?:(?!  \}\n).*\n){0,6}?\s*_mps_linear_nograph\()",
         r"  if ((\1) && !at::mps::MPSStreamPool::instance().prefersGraphs()) {\n",
         fault="_mps_linear_nograph"),
    include("layer-norm-lock", f"{NATIVE}/operations/Normalization.mm"),
    Edit("layer-norm-lock", f"{NATIVE}/operations/Normalization.mm",
         r"^(std::tuple<Tensor, Tensor, Tensor> layer_norm_mps\([^{;]*\)\s*\{\n)",
         r"\1  static std::mutex mpsd_mutex;\n"
         r"  const std::lock_guard<std::mutex> mpsd_lock(mpsd_mutex);\n"),
)

EDITS = (
    # A command buffer that was kept to be waited for, and is replaced before anybody waited.
    Edit("kept-buffer", f"{MPS}/MPSStream.mm",
         r"^(\s*)(_prevCommandBuffer = _commandBuffer;)\n",
         r"\1[_prevCommandBuffer release];\n\1\2\n"),
    # Command buffer and encoder, which calls outside of the stream's queue touch too.
    include("stream-state", f"{MPS}/MPSStream.h"),
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
    include("cache-bound", f"{NATIVE}/OperationUtils.h",
            f"<ATen/mps/{CACHE_FILES['cache_bound.h']}>"),
    include("thread-caches", f"{NATIVE}/OperationUtils.h"),
    Edit("thread-caches", f"{NATIVE}/OperationUtils.h",
         r"^    if \(_instance_cache == nullptr\) \{\n      _instance_cache = new (\w+)\(\);\n"
         r"    \}\n    return _instance_cache;\n",
         r"    static thread_local \1 cache;\n    return &cache;\n", most=2),
    # The caches of a thread have a bound.
    Edit("cache-bound", f"{NATIVE}/OperationUtils.h",
         r"^(    std::string key_;\n)(?=  \};)",
         r"\1    mutable mpsd::CacheBound::Use mpsd_use;\n", most=2),
    Edit("cache-bound", f"{NATIVE}/OperationUtils.h",
         r"^(        cached(?:Graph|Kernel) = entry\.cached\w+_;\n)",
         r"\1        entry.mpsd_use.Again();\n", least=2, most=4),
    Edit("cache-bound", f"{NATIVE}/OperationUtils.h",
         r"^(        (cached\w+) = createCacheBlock\(\);\n)",
         r"\1        mpsd::CacheBound::MakeRoom(\n"
         r"            cache_, [](const CacheEntry& oldest) { delete oldest.\2_; });\n", most=2),
    # Shader libraries and pipelines by name, which threads compile and insert.
    include("shader-maps", f"{NATIVE}/MetalShaderLibrary.h"),
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


def edits_for(place):
    """The edits of the sources that `place` finds: (those to make, names of those left out)."""
    header = place(f"{MPS}/MPSStream.h")
    if header.is_file() and OWN_POOL in header.read_text():
        return EDITS, names_of(POOL_EDITS)
    return POOL_EDITS + EDITS, []


def names_of(edits):
    return list(dict.fromkeys(edit.name for edit in edits))


def own_texts(files):
    """{path: text} of our own files, which name each other as libtorch's sources do."""
    texts = {}
    for name, target in files.items():
        text = (HERE / name).read_text()
        for other, renamed in files.items():
            text = text.replace(f'"worker/libtorch/{other}"', f'"ATen/mps/{renamed}"')
        texts[f"{MPS}/{target}"] = text
    return texts


class Made:
    """What a run has done: the names of its edits, by their outcome."""

    def __init__(self, changed, edits, left_out):
        self.changed = changed
        self.not_needed = [name for name in names_of(edits) if name not in changed]
        self.left_out = left_out

    def say(self):
        print(f"patched: {', '.join(self.changed)}")
        if self.not_needed:
            print(f"without the fault in these sources: {', '.join(self.not_needed)}")
        if self.left_out:
            print("left out, since these sources have a pool of streams: "
                  f"{', '.join(self.left_out)}")


def edited_texts(edits, place):
    """({path: edited text} of the files that `edits` name, the edits that changed any).

    `place` finds a path's file.
    """
    texts, changed = {}, []
    for edit in edits:
        if edit.path not in texts:
            file = place(edit.path)
            if not file.is_file():
                raise ValueError(f"{edit.name}: there is no {edit.path}")
            texts[edit.path] = file.read_text()
            if MARK in texts[edit.path]:
                raise ValueError(f"{edit.path} is edited already")
        before = texts[edit.path]
        texts[edit.path] = edit.apply(before)
        if texts[edit.path] != before:
            changed.append(edit)
    return texts, changed


def new_texts(place, wanted):
    """({path: text} of the files to write, what has been made)."""
    edits, left_out = edits_for(place)
    edits = [edit for edit in edits if wanted(edit.path)]
    texts, changed = edited_texts(edits, place)
    texts.update(own_texts(CACHE_FILES if left_out else {**CACHE_FILES, **POOL_FILES}))
    return texts, Made(names_of(changed), edits, left_out)


def patch(source):
    """Edits the files of `source`, all or none. Returns what has been made."""
    texts, made = new_texts(lambda path: source / path, lambda path: True)
    for path, text in texts.items():
        (source / path).write_text(text)
    return made


def patch_headers(built, target):
    """Writes the edited headers of `built` below `target`, and our own files, all or none."""
    texts, made = new_texts(lambda path: built / path.removeprefix(SOURCES),
                            lambda path: path.endswith(".h"))
    for path, text in texts.items():
        file = target / path.removeprefix(SOURCES)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=pathlib.Path, nargs="?")
    parser.add_argument("--headers", type=pathlib.Path, nargs=2, metavar=("INCLUDE", "TARGET"),
                        help="edit copies of the headers of a libtorch that is built")
    parser.add_argument("--list", action="store_true", help="print the edits, and change nothing")
    arguments = parser.parse_args()
    if arguments.list:
        for edit in POOL_EDITS + EDITS:
            print(f"{edit.name}\t{edit.path}")
        return
    try:
        if arguments.headers is not None:
            patch_headers(*arguments.headers).say()
        elif arguments.source is not None:
            patch(arguments.source).say()
        else:
            parser.error("the folder of PyTorch's sources is missing")
    except ValueError as error:
        sys.exit(f"patch_libtorch.py: {error}; nothing was changed")


if __name__ == "__main__":
    main()
