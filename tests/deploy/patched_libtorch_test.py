#!/usr/bin/env python3
"""worker/libtorch: the edits of PyTorch's sources, and the libtorch that `./run` is told to use.

The sources here are stand-ins of a few lines. MPSD_PYTORCH=FOLDER names real ones, which are copied
and edited, too.
"""
import os
import pathlib
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
MPSStream* MPSStreamImpl::getInstance() {
  if (_stream == nullptr) {
    _stream = new MPSStream(0);
  }
  return _stream;
}
""",
    "mps/MPSEvent.h": """#pragma once
class MPSEvent {
  void waitForCpuSync();
};
""",
    "mps/MPSEvent.mm": """  if (!stream) {
    stream = m_default_stream;
  }
  MPSEvent* end_event = getInUseEvent(end_event_id, false);
  // a comment
  end_event->waitForCpuSync();
""",
    "native/mps/OperationUtils.h": """#pragma once
struct MPSGraphCache {
  static MPSGraphCache* getInstance() {
    if (_instance_cache == nullptr) {
      _instance_cache = new MPSGraphCache();
    }
    return _instance_cache;
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
        self.assertEqual(self.patch(), "patched: stream-once, kept-buffer, stream-state, "
                                       "event-stream, event-timing, thread-caches, shader-maps\n")
        for name in FILES:
            self.assertNotEqual(self.text(name), FILES[name], name)

    def test_the_stream_is_made_once(self):
        self.patch()
        text = self.text("mps/MPSStream.mm")
        self.assertNotIn("_stream == nullptr", text)
        self.assertRegex(text, r"call_once\(made, \[\] \{\n\s+_stream = new MPSStream\(0\);\n  \}\)")
        self.assertIn("[_prevCommandBuffer release];\n      _prevCommandBuffer =", text)
        self.assertEqual(text.count(LOCK + "_stateMutex);"), 4)

    def test_a_header_includes_what_it_needs_for_every_language(self):
        self.patch()
        for name in ("mps/MPSStream.h", "native/mps/MetalShaderLibrary.h",
                     "native/mps/OperationUtils.h"):
            self.assertRegex(self.text(name), r"\A#pragma once\n// Edited.*\n#include <mutex>\n")

    def test_each_thread_has_its_own_cache(self):
        self.patch()
        text = self.text("native/mps/OperationUtils.h")
        self.assertIn("    static thread_local MPSGraphCache cache;\n    return &cache;\n", text)

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
        self.assertEqual(sorted(str(path.relative_to(made / "ATen"))
                                for path in made.rglob("*") if path.is_file()), sorted(headers))
        for name in headers:
            self.assertEqual(self.text(name), FILES[name], "the source stays as it is")
        self.patch()
        for name in headers:
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
                if name.endswith("MPSEvent.h") and not broken:
                    continue  # an event without a wait is known
                self.path(name).write_text(broken)
                done = run(sys.executable, SCRIPT, self.source)
                self.assertEqual(done.returncode, 1, name)
                self.assertRegex(done.stderr, rf"{name}: \d places, not ")
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
        self.assertEqual(len(done.stdout.splitlines()), len(patch_libtorch.EDITS))
        done = run(sys.executable, SCRIPT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the folder of PyTorch's sources is missing", done.stderr)

    def test_the_readme_explains_each_edit(self):
        text = (SCRIPT.parent / "README.md").read_text()
        for edit in patch_libtorch.EDITS:
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
have_googletest() {{ false; }}
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
