#!/usr/bin/env python3
"""worker/libtorch: the edits of PyTorch's sources, and the libtorch that `./run` is told to use.

The sources here are stand-ins of a few lines. MPSD_PYTORCH=FOLDER names real ones, which are copied
and edited, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "worker/libtorch/patch_libtorch.py"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True

import patch_libtorch  # noqa: E402

OWN_FILES = [*patch_libtorch.POOL_FILES.values(), *patch_libtorch.CACHE_FILES.values()]

FILES = {
    "mps/MPSStream.h": """#pragma once
class MPSStream {
  Stream _stream;
};
""",
    "mps/MPSStream.mm": """// a comment
#include "MPSStream.h"
MPSCommandBuffer* MPSStream::commandBuffer() {
  return _commandBuffer;
}
id<MTLComputeCommandEncoder> MPSStream::commandEncoder() {
  return _commandEncoder;
}
void MPSStream::synchronize(SyncType syncType) {
}
void MPSStream::endKernelCoalescing() {
}
void MPSStream::flush() {
      _prevCommandBuffer = _commandBuffer;
}
void MPSStream::addCompletedHandler(MTLCommandBufferHandler block) {
  dispatch_sync(_serialQueue, ^() {
    [commandBuffer() addCompletedHandler:block];
  });
}
MPSStream::MPSStream(Stream stream) {
  _executionDescriptor.enableCommitAndContinue = _enableCommitAndContinue;
}
MPSStream* MPSStreamImpl::getInstance() {
  if (_stream == nullptr) {
    _stream = new MPSStream(0);
  }
  return _stream;
}
MPSStream* getCurrentMPSStream() {
  return getDefaultMPSStream();
}
""",
    "mps/MPSGuardImpl.h": """#pragma once
struct MPSGuardImpl {
  Stream getStream(Device d) const override {
    return Stream(Stream::DEFAULT, Device(c10::DeviceType::MPS, 0));
  }
  Stream getNewStream(Device, int priority = 0) const override {
    (void)priority;
    return Stream(Stream::DEFAULT, Device(c10::DeviceType::MPS, 0));
  }
  Stream getDefaultStream(Device d) const override {
    return Stream(Stream::DEFAULT, Device(c10::DeviceType::MPS, 0));
  }
  Stream exchangeStream(Stream s) const override {
    return Stream(Stream::DEFAULT, Device(c10::DeviceType::MPS, 0));
  }
  void synchronizeDevice(const DeviceIndex device_index) const override;
};
""",
    "mps/MPSGuardImpl.mm": """void MPSGuardImpl::record() {
  MPSStream mps_stream{stream};
}
void MPSGuardImpl::block() {
  MPSStream mps_stream{stream};
}
void MPSGuardImpl::synchronizeDevice(const DeviceIndex device_index) const {
  at::mps::getDefaultMPSStream()->synchronize(SyncType::COMMIT_AND_WAIT);
}
""",
    "mps/MPSHooks.mm": """void MPSHooks::deviceSynchronize() const {
  at::mps::getDefaultMPSStream()->synchronize(SyncType::COMMIT_AND_WAIT);
}
void MPSHooks::commitStream() const {
  at::mps::getDefaultMPSStream()->synchronize(SyncType::COMMIT);
}
void* MPSHooks::getCommandBuffer() const {
  return at::mps::getDefaultMPSStream()->commandBuffer();
}
void* MPSHooks::getDispatchQueue() const {
  return at::mps::getDefaultMPSStream()->queue();
}
""",
    "mps/MPSAllocator.h": """#pragma once
struct BufferBlock {
  bool in_use = false;
};
""",
    "mps/MPSAllocator.mm": """bool MPSHeapAllocatorImpl::get_free_buffer(AllocParams& params) {
  auto it = pool.available_buffers.lower_bound(&params.search_key);
  if (it != pool.available_buffers.end()) {
  }
}
BufferBlock* MPSHeapAllocatorImpl::alloc_buffer_block(size_t size, uint32_t usage) {
  buffer_block->in_use = true;
}
void MPSHeapAllocatorImpl::free_buffer(BufferBlock* buffer_block) {
  buffer_block->in_use = false;
}
bool MPSHeapAllocatorImpl::release_buffer(BufferBlock* buffer_block, bool remove_empty_heap) {
      m_stream->addCompletedHandler(^(id<MTLCommandBuffer>) {
      });
}
void MPSHeapAllocatorImpl::release_buffers(BufferPool& pool) {
  while (it != pool.available_buffers.end()) {
    BufferBlock* buffer_block = *it;
    ++it;
    release_buffer(buffer_block);
  }
}
bool MPSHeapAllocatorImpl::release_available_cached_buffers(AllocParams& params) {
  auto it = pool.available_buffers.lower_bound(&params.search_key);
      if (it != pool.available_buffers.begin()) {
        --it;
        release_buffer(*cur);
      } else {
        release_buffer(*cur);
        break;
      }
}
bool MPSHeapAllocatorImpl::release_cached_buffers() {
  auto stream = getDefaultMPSStream();
  dispatch_sync(stream->queue(), ^() {
    stream->synchronize(SyncType::COMMIT_AND_WAIT);
  });
}
void MPSHeapAllocatorImpl::free(void* ptr) {
  m_stream->addCompletedHandler(^(id<MTLCommandBuffer>) {
  });
}
""",
    "mps/MPSEvent.h": """#pragma once
class MPSEvent {
  void waitForCpuSync();
  bool waitLocked(bool syncEvent);
};
""",
    "mps/MPSEvent.mm": """bool MPSEvent::waitLocked(bool syncEvent) {
  m_stream->endKernelCoalescing();
  id<MTLCommandBuffer> commandBuffer = m_stream->commandBuffer();
  m_stream->synchronize(SyncType::COMMIT);
}
void MPSEvent::record(bool needsLock, bool syncEvent) {
  dispatch_sync(m_stream->queue(), ^() {
  });
}
bool MPSEvent::wait(bool needsLock, bool syncEvent) {
  if (!needsLock) {
    return waitLocked(syncEvent);
  }
  dispatch_sync(m_stream->queue(), ^() {
      waited = waitLocked(syncEvent);
  });
}
MPSEventPtr MPSEventPool::acquireEvent(bool enable_timing, MPSStream* stream) {
  if (!stream) {
    stream = m_default_stream;
  }
}
double MPSEventPool::elapsedTime(id_t start_event_id, id_t end_event_id) {
  dispatch_sync(m_default_stream->queue(), ^() {
    m_default_stream->synchronize(SyncType::COMMIT_AND_WAIT);
  });
  MPSEvent* end_event = getInUseEvent(end_event_id, false);
  // a comment
  end_event->waitForCpuSync();
}
""",
    "native/mps/OperationUtils.h": """#pragma once
struct MPSGraphCache {
  struct CacheEntry {
    MPSCachedGraph* cachedGraph_ = nullptr;
    std::string key_;
  };
  static MPSGraphCache* getInstance() {
    if (_instance_cache == nullptr) {
      _instance_cache = new MPSGraphCache();
    }
    return _instance_cache;
  }
  MPSCachedGraph* CreateCachedGraph() {
      if (it != cache_.end()) {
        cachedGraph = entry.cachedGraph_;
      } else {
        cachedGraph = createCacheBlock();
        cache_.try_emplace(hash, key, cachedGraph);
      }
  }
  MPSCachedGraph* LookUp() const {
        cachedGraph = entry.cachedGraph_;
  }
};
""",
    "native/mps/OperationUtils.mm": """id<MTLLibrary> MetalShaderLibrary::getLibrary() {
}
id<MTLLibrary> MetalShaderLibrary::getLibrary(const Names& names) {
}
std::pair<id<State>, id<Function>> MetalShaderLibrary::getLibraryPipelineState(
    id<MTLLibrary> lib) {
}
  id<MTLLibrary> getLibrary() override {
  }
void MetalKernelFunction::runCommandBlock(std::function<void(void)> run) {
  dispatch_sync_with_rethrow(getCurrentMPSStream()->queue(), ^() {
      run();
  });
}
""",
    "ParallelThreadPoolNative.cpp": """#if AT_PARALLEL_NATIVE
#include <ATen/Parallel.h>
void launch(std::function<void()> func) {
  launch_no_thread_state(std::move(func));
}
#endif
""",
    "native/mps/operations/Linear.mm": """Tensor _mps_linear(const Tensor& input) {
  if (input.numel() == 0) {
    return output;
  }
  if (is_macos_13_or_newer(MacOSVersion::MACOS_VER_15_0_PLUS) && is_contiguous) {
    _mps_linear_nograph(input, weight, bias, output);
  }
}
""",
    "native/mps/operations/Normalization.mm": """// a comment
#define ONLY_METHODS
std::tuple<Tensor, Tensor, Tensor> layer_norm_mps(const Tensor& input,
                                                  double eps) {
}
""",
    "native/mps/MetalShaderLibrary.h": """#pragma once
#ifdef __OBJC__
#include <Metal/Metal.h>
#endif
class MetalShaderLibrary {
  MTLLibrary_t library = nullptr;
};
""",
}
LOCK = "const std::lock_guard<std::recursive_mutex> mpsd_lock("


def run(*words, **more):
    return subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=60,
                          check=False, **more)


class Patch(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-pytorch-"))
        self.source = pathlib.Path(folder)
        for path, text in FILES.items():
            self.path(path).parent.mkdir(parents=True, exist_ok=True)
            self.path(path).write_text(text)

    def path(self, name):
        return self.source / "aten/src/ATen" / name

    def text(self, name):
        return self.path(name).read_text()

    def patch(self):
        done = run(sys.executable, SCRIPT, self.source)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_edit_is_made(self):
        self.assertEqual(self.patch(),
                         "patched: stream-pool, stream-guard, commit-and-continue, stream-waits, "
                         "caller-stream, block-stream, task-stream, buffer-stream, buffer-loops, "
                         "linear-graphs, layer-norm-lock, kept-buffer, stream-state, "
                         "event-stream, event-timing, cache-bound, thread-caches, shader-maps\n")
        for name in FILES:
            self.assertNotEqual(self.text(name), FILES[name], name)

    def test_the_streams_are_those_of_the_pool(self):
        self.patch()
        text = self.text("mps/MPSStream.mm")
        self.assertRegex(text, r"getInstance\(\) \{\n  return MPSStreamPool::instance\(\)\.stream\(0\);\n"
                               r"\}\n.*getCurrentMPSStream\(\) \{\n"
                               r"  return MPSStreamPool::instance\(\)\.current\(\);\n\}")
        self.assertIn("[_prevCommandBuffer release];\n      _prevCommandBuffer =", text)
        self.assertEqual(text.count(LOCK + "_stateMutex);"), 4)

    def test_the_pool_is_copied_and_names_what_is_beside_it(self):
        self.patch()
        self.assertTrue(self.text("mps/MPSStream.h").endswith(
            "#include <ATen/mps/mpsd_mps_stream_pool.h>\n"))
        for name in OWN_FILES:
            text = self.text(f"mps/{name}")
            self.assertNotIn('"worker/', text)
            for included in re.findall(r'#include "ATen/mps/(mpsd_.*)"', text):
                self.assertTrue(self.path(f"mps/{included}").is_file(), included)
        self.assertIn('#include "ATen/mps/mpsd_stream_pool.h"',
                      self.text("mps/mpsd_mps_stream_pool.h"))

    def test_the_guard_gives_out_the_streams_of_the_pool(self):
        self.patch()
        text = self.text("mps/MPSGuardImpl.h")
        self.assertEqual(text.count("Stream::DEFAULT"), 1, "the default stream stays")
        for call in (".current()->unwrap()", ".next())", ".exchange(s.id()))"):
            self.assertEqual(text.count("MPSStreamPool::instance()" + call), 1, call)
        self.assertIn("void synchronizeStream(const Stream& stream) const override {", text)
        self.assertEqual(self.text("mps/MPSGuardImpl.mm").count(
            "const MPSStreamScope mpsd_scope(MPSStreamPool::instance().stream(stream.id()));"), 2)

    def test_a_wait_for_the_device_is_one_for_all_streams(self):
        self.patch()
        for name in ("GuardImpl", "Hooks", "Event", "Allocator"):
            text = self.text(f"mps/MPS{name}.mm")
            wait = "waitForMemory" if name == "Allocator" else "waitForAll"
            self.assertEqual(text.count(f"  MPSStreamPool::instance().{wait}();\n"), 1, name)
            self.assertNotIn("DefaultMPSStream", text, name)

    def test_a_handler_is_added_at_once_in_the_streams_own_queue(self):
        self.patch()
        self.assertRegex(self.text("mps/MPSStream.mm"),
                         r"MTLCommandBufferHandler block\) \{\n  if \(MPSStreamPool::isInQueueOf\(this\)\) \{\n"
                         r"    \[commandBuffer\(\) addCompletedHandler:block\];\n    return;\n  \}\n"
                         r"  dispatch_sync")

    def test_hooks_and_events_are_of_the_callers_stream(self):
        self.patch()
        self.assertEqual(self.text("mps/MPSHooks.mm").count("at::mps::getCurrentMPSStream()->"), 3)
        text = self.text("mps/MPSEvent.mm")
        wait_locked = text[:text.index("void MPSEvent::record")]
        self.assertIn("bool MPSEvent::waitLocked(MPSStream* stream, bool syncEvent) {", wait_locked)
        self.assertNotIn("m_stream", wait_locked)
        self.assertRegex(text, r"record\(.*\n  m_stream = getCurrentMPSStream\(\);\n  dispatch_sync\(m_")
        self.assertRegex(text, r"::wait\(.*\n  MPSStream\* stream = getCurrentMPSStream\(\);\n")
        self.assertEqual(text.count("waitLocked(stream, syncEvent)"), 2)
        self.assertIn("waitLocked(MPSStream* stream, bool syncEvent);", self.text("mps/MPSEvent.h"))

    def test_a_block_takes_its_callers_stream_along(self):
        self.patch()
        self.assertRegex(self.text("native/mps/OperationUtils.mm"),
                         r"  MPSStream\* mpsd_stream = getCurrentMPSStream\(\);\n"
                         r"  dispatch_sync_with_rethrow\(mpsd_stream->queue\(\), \^\(\) \{\n"
                         r"    const at::mps::MPSStreamScope mpsd_scope\(mpsd_stream\);\n      run")

    def test_a_forked_task_runs_on_the_stream_of_who_forked_it(self):
        self.patch()
        text = self.text("ParallelThreadPoolNative.cpp")
        self.assertRegex(text, r"\A// Edited.*\n#include <ATen/mps/mpsd_mps_stream_pool.h>\n#if AT")
        self.assertRegex(text, r"launch\(std.*\n#ifdef USE_MPS\n(?:  .*\n)*"
                               r"      const at::mps::MPSStreamScope mpsd_scope\(mpsd_stream\);\n"
                               r"      mpsd_task\(\);\n    \};\n  \}\n#endif\n  launch_no_thread_state")

    def test_a_busy_buffer_stays_with_its_stream(self):
        self.patch()
        text = self.text("mps/MPSAllocator.mm")
        self.assertRegex(text, r"lower_bound.*\n  while \(it != .*mpsd_busy_elsewhere\(\)\) \{\n"
                               r"    \+\+it;\n  \}\n  if \(it != ")
        self.assertRegex(text, r"in_use = true;\n  buffer_block->mpsd_stream = MPSStreamPool")
        self.assertRegex(text, r"in_use = false;\n  if \(buffer_block->mpsd_stream != MPSStreamPool")
        self.assertEqual(text.count("heldOrMain()->addCompletedHandler("), 2)
        self.assertIn("return (held < 0 || mpsd_stream != held) && retainCount() > 1;",
                      self.text("mps/MPSAllocator.h"))
        self.assertNotIn("m_stream->", text)

    def test_loops_that_release_the_allocators_lock_begin_anew(self):
        self.patch()
        text = self.text("mps/MPSAllocator.mm")
        self.assertIn("    release_buffer(buffer_block);\n"
                      "    it = pool.available_buffers.begin();\n", text)
        self.assertNotIn("--it", text)
        self.assertEqual(text.count("release_buffer(*cur);"), 1)

    def test_linear_goes_by_graphs_where_several_threads_are(self):
        self.patch()
        text = self.text("native/mps/operations/Linear.mm")
        self.assertEqual(text.count("prefersGraphs"), 1)
        self.assertIn("is_contiguous) && !at::mps::MPSStreamPool::instance().prefersGraphs()) {\n"
                      "    _mps_linear_nograph", text)

    def test_sources_whose_linear_is_a_graph_anyway_keep_it(self):
        name = "native/mps/operations/Linear.mm"
        self.path(name).write_text("Tensor _mps_linear() {}\n")
        said = self.patch()
        self.assertEqual(self.text(name), "Tensor _mps_linear() {}\n")
        self.assertEqual(said.count("linear-graphs"), 1)
        self.assertIn("\nwithout the fault in these sources: linear-graphs\n", said)

    def test_one_thread_at_a_time_is_in_layer_norm(self):
        self.patch()
        text = self.text("native/mps/operations/Normalization.mm")
        self.assertRegex(text, r"\A// a comment\n// Edited.*\n#include <mutex>\n#define")
        self.assertRegex(text, r"double eps\) \{\n  static std::mutex mpsd_mutex;\n"
                               r"  const std::lock_guard<std::mutex> mpsd_lock\(mpsd_mutex\);\n\}")

    def test_sources_with_a_pool_of_their_own_keep_it(self):
        header = self.path("mps/MPSStream.h")
        header.write_text(FILES["mps/MPSStream.h"] + "MPSStream* getStreamFromPool();\n")
        said = self.patch()
        self.assertRegex(said, r"\Apatched: kept-buffer, .*\nleft out, since these sources have a pool "
                               r"of streams: stream-pool, .*layer-norm-lock\n\Z")
        self.assertEqual(self.text("mps/MPSGuardImpl.h"), FILES["mps/MPSGuardImpl.h"])
        self.assertFalse(self.path("mps/mpsd_stream_pool.h").exists())
        self.assertTrue(self.path("mps/mpsd_cache_bound.h").is_file(), "its caches have a bound")

    def test_a_header_includes_what_it_needs_for_every_language(self):
        self.patch()
        for name in ("mps/MPSStream.h", "native/mps/MetalShaderLibrary.h",
                     "native/mps/OperationUtils.h"):
            self.assertRegex(self.text(name), r"\A#pragma once\n// Edited.*\n#include <mutex>\n")

    def test_each_thread_has_its_own_cache(self):
        self.patch()
        text = self.text("native/mps/OperationUtils.h")
        self.assertIn("    static thread_local MPSGraphCache cache;\n    return &cache;\n", text)

    def test_a_cache_has_a_bound(self):
        self.patch()
        text = self.text("native/mps/OperationUtils.h")
        self.assertIn("    std::string key_;\n    mutable mpsd::CacheBound::Use mpsd_use;\n", text)
        self.assertEqual(text.count("        cachedGraph = entry.cachedGraph_;\n"
                                    "        entry.mpsd_use.Again();\n"), 2)
        self.assertRegex(text, r"createCacheBlock\(\);\n        mpsd::CacheBound::MakeRoom\(\n"
                               r" .*delete oldest\.cachedGraph_; \}\);\n        cache_\.try_emplace")
        self.assertTrue(self.path("mps/mpsd_cache_bound.h").is_file())

    def test_the_environment_says_which_streams_commit_and_continue(self):
        self.patch()
        self.assertRegex(self.text("mps/MPSStream.mm"),
                         r"  _enableCommitAndContinue =\n .*commitsAndContinues\(_stream\.id\(\)\);\n"
                         r"  _executionDescriptor\.enableCommit")

    def test_a_time_that_nobody_takes_is_not_waited_for(self):
        self.patch()
        self.assertRegex(self.text("mps/MPSEvent.mm"),
                         r"end_event = .*\n  TORCH_CHECK\(start_event->mpsd_timed\(\) && "
                         r"end_event->mpsd_timed\(\),\n.*\n  // a comment\n  end_event->wait")
        self.assertIn("bool mpsd_timed() const {", self.text("mps/MPSEvent.h"))

    def test_where_no_event_waits_nothing_asks_for_its_timing(self):
        for name in ("mps/MPSEvent.h", "mps/MPSEvent.mm"):
            self.path(name).write_text(FILES[name].replace("waitForCpuSync", "mend"))
        self.patch()
        for name in ("mps/MPSEvent.h", "mps/MPSEvent.mm"):
            self.assertNotIn("mpsd_timed", self.text(name))

    def test_headers_are_copied_and_edited(self):
        made = self.source / "made"
        done = run(sys.executable, SCRIPT, "--headers", self.source / "aten/src", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        headers = [name for name in FILES if name.endswith(".h")]
        copied = [f"mps/{name}" for name in OWN_FILES]
        self.assertEqual(sorted(str(path.relative_to(made / "ATen"))
                                for path in made.rglob("*") if path.is_file()),
                         sorted(headers + copied))
        for name in headers:
            self.assertEqual(self.text(name), FILES[name], "the source stays as it is")
        self.patch()
        for name in headers + copied:
            self.assertEqual((made / "ATen" / name).read_text(), self.text(name))

    def test_headers_of_which_one_is_missing_are_not_copied(self):
        self.path("mps/MPSStream.h").unlink()
        made = self.source / "made"
        done = run(sys.executable, SCRIPT, "--headers", self.source / "aten/src", made)
        self.assertIn("there is no aten/src/ATen/mps/MPSStream.h", done.stderr)
        self.assertFalse(made.exists())

    def test_every_look_up_of_a_shader_is_locked(self):
        self.patch()
        text = self.text("native/mps/OperationUtils.mm")
        self.assertEqual(text.count(LOCK + "lookupMutex);"), 4)

    def test_a_second_time_is_refused(self):
        self.patch()
        again = run(sys.executable, SCRIPT, self.source)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("is edited already; nothing was changed", again.stderr)

    def test_a_place_that_is_not_found_is_named_and_nothing_changes(self):
        for name, text in FILES.items():
            for broken in ("", text + text):
                if name.endswith("OperationUtils.h") and broken:
                    continue  # two caches are known
                if name.endswith("Linear.mm") and not broken:
                    continue  # one without a kernel of the framework is known
                self.path(name).write_text(broken)
                with self.assertRaisesRegex(ValueError, rf"{name}: \d places, not "):
                    patch_libtorch.patch(self.source)
                for other in FILES:
                    if other != name:
                        self.assertEqual(self.text(other), FILES[other])
                self.path(name).write_text(text)

    def test_a_missing_file_is_named(self):
        self.path("mps/MPSEvent.mm").unlink()
        self.assertIn("there is no aten/src/ATen/mps/MPSEvent.mm",
                      run(sys.executable, SCRIPT, self.source).stderr)

    def test_the_edits_are_listed_without_sources(self):
        done = run(sys.executable, SCRIPT, "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()),
                         len(patch_libtorch.POOL_EDITS + patch_libtorch.EDITS))
        done = run(sys.executable, SCRIPT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the folder of PyTorch's sources is missing", done.stderr)

    def test_the_readme_explains_each_edit(self):
        text = (SCRIPT.parent / "README.md").read_text()
        for edit in patch_libtorch.POOL_EDITS + patch_libtorch.EDITS:
            self.assertIn(f"| `{edit.name}` |", text)
            self.assertIn(pathlib.Path(edit.path).name, text)

    @unittest.skipUnless(os.environ.get("MPSD_PYTORCH"), "MPSD_PYTORCH names no sources")
    def test_the_real_sources_take_every_edit(self):
        real = pathlib.Path(os.environ["MPSD_PYTORCH"])
        for name in FILES:
            shutil.copy(real / "aten/src/ATen" / name, self.path(name))
        self.patch()


class Build(unittest.TestCase):
    def test_elsewhere_than_on_a_mac_the_edits_are_checked_and_no_more(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-pytorch-") as folder:
            folder = pathlib.Path(folder)
            for path, text in FILES.items():
                file = folder / "source/aten/src/ATen" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            done = run(SCRIPT.parent / "build_patched.sh", folder / "made", folder / "source")
            self.assertEqual(done.returncode, 1)
            self.assertIn("the edits apply; only a Mac can build them", done.stderr)
            for path, text in FILES.items():
                self.assertEqual((folder / "source/aten/src/ATen" / path).read_text(), text)


class Run(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-"))
        self.folder = pathlib.Path(folder).resolve()
        self.libtorch = self.folder / "torch"
        (self.libtorch / "include/ATen").mkdir(parents=True)
        (self.libtorch / "lib").mkdir()

    def shell(self, text, **environment):
        """A few words of ./run in a bare folder, with stand-ins for what takes long."""
        script = f"""set -euo pipefail
called_from=$PWD
for part in steps packages build; do . {ROOT}/cmake/setup/$part.sh; done
mkdir -p cmake/setup; touch cmake/setup/libtorch.sh
[ -e CMakePresets.json ] || touch CMakePresets.json
bash() {{ echo "fetches $*"; }}
have_test_libraries() {{ false; }}
cmake() {{ mkdir -p build/release; touch build/release/build.ninja; echo "cmake $*"
  echo MPSD_TESTS:BOOL=OFF >build/release/CMakeCache.txt
  echo "MPSD_LIBTORCH:PATH=${{MPSD_LIBTORCH-}}" >>build/release/CMakeCache.txt; }}
{text}"""
        return run("bash", "-c", script, "run", cwd=self.folder,
                   env={"PATH": os.environ["PATH"], **environment})

    def test_a_named_libtorch_is_not_fetched(self):
        self.assertIn("fetches", self.shell("need_libtorch").stdout)
        done = self.shell("need_libtorch", MPSD_LIBTORCH=str(self.libtorch))
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_folder_without_one_is_named(self):
        done = self.shell("need_libtorch", MPSD_LIBTORCH="/none")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/none has no include/ATen", done.stderr)

    def test_a_build_is_configured_again_for_another_one(self):
        twice = "configure_preset release; configure_preset release"
        done = self.shell(twice, MPSD_LIBTORCH=str(self.libtorch))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(f"-DMPSD_LIBTORCH:PATH={self.libtorch}"), 1)
        self.assertIn("-U MPSD_TORCH_CPU", done.stdout)
        for same in (f"{self.libtorch}/", "torch", "./torch//"):
            self.assertEqual(self.shell(twice, MPSD_LIBTORCH=same).stdout, "", same)
        other = self.shell("configure_preset release", MPSD_LIBTORCH="/other")
        self.assertIn("-DMPSD_LIBTORCH:PATH=/other", other.stdout)
        self.assertEqual(self.shell("configure_preset release").stdout, "", "it keeps its own")


if __name__ == "__main__":
    unittest.main(verbosity=2)
