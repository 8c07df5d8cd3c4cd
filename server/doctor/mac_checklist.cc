#include "server/doctor/mac_checklist.h"

#include "absl/strings/str_cat.h"

namespace mpsd {

std::vector<MacCheck> MacChecklist() {
  return {
      {"`./run serve` on a fresh clone",
       "the table of addresses, within 30 minutes; no error of the compiler"},
      {"`./run build dev && build/dev/tests/base_test`",
       "`PASSED` for each test, of which `SharedMemory.*` show that a reader cannot write"},
      {R"(`ls -ld ~/Library/Application\ Support/mpsd` while it serves)",
       "`drwx------`, with `mpsd.lock` and `mpsd.sock` inside"},
      {"`build/release/bin/mpsd infer mlp --input input=random`, ten times with 2 s between",
       "an answer each; no line `does not wait on shared memory` in the log"},
      {"`curl -s 127.0.0.1:8002/metrics | grep process_max_fds` after a start from a terminal",
       "more than 256"},
      {"`kill -9 PID` of a worker of `build/release/bin/mpsd ps`, then `ps` again within 2 s",
       "the next epoch, state `serving`"},
      {R"(with `"limits": {"connections": 4}`: )"
       "`for i in 1 2 3 4 5 6; do nc 127.0.0.1 8001 & done`",
       "two of the six end at once"},
      {"`tests/integration/shared_memory_test.py`", "`OK`"},
      {"`pmset -g assertions` while `build/release/bin/mpsd-bench` runs, and 10 s after it",
       "`PreventUserIdleSystemSleep … mpsd serves requests`; then none"},
      {"a call with a deadline of 60 s to a model that takes 30 s; `pmset sleepnow` for two "
       "minutes "
       "in between",
       "an answer, not DEADLINE_EXCEEDED; no `worker_killed` in the log"},
      {R"(`build/release/bin/mpsd serve config/demo.json` with `"device": "mps"` for `mlp`)",
       "the model `ready` on `mps` in `mpsd ps`, and `inputs in_place` for its worker"},
      {"the LaunchAgent of deploy/, then the LaunchDaemon, each with that model",
       "`ready` in `mpsd ps`; how long until then"},
      {R"(`"sandbox": "strict"`; then `"basic"`, and )"
       R"(`log show --last 5m --predicate 'sender == "Sandbox"'`)",
       "a refusal that names the sandbox, exit code 78; then no line `sandbox: ` in the log, and "
       "no "
       "denial by which a model fails"},
      {"a model whose batch needs more than the memory of the Mac, on mps",
       "RESOURCE_EXHAUSTED `out of memory`; the next call is answered by the same worker"},
      {"`build/release/bin/mpsd doctor --report doctor.txt`",
       "no line that begins with FAIL; send doctor.txt with the rest"},
      {"`deploy/homebrew/tap.sh ~/mpsd-tap`, then the commands of deploy/README.md below it",
       "`brew` installs it without a warning; `mpsd ps` shows `identity` ready"},
      {"with a patched libtorch, `build/release/bin/mpsd ps` while a model serves on mps; then a "
       "program of yours with libmpsd-driver-guard (docs/macos.md)",
       "`patched, driver guard held`; `mpsd-driver-guard: held`, and at the end more than 0 calls"},
      {"with a patched libtorch, `./run bench --mac`; with any other, too",
       "`PASS` in the line of each bar; send the report that the last line names, whatever it "
       "says"},
      {"`worker/libtorch/build_patched.sh ~/torch-patched v2.9.1`, before checks 17 and 18",
       "`patched: stream-pool, …` within minutes; at the end `torch-patched: patched`; send how "
       "long, and the first error"},
      {"`sudo memory_pressure -S -l critical` while a model serves on mps; then `curl -s "
       "127.0.0.1:8002/metrics | grep memory`",
       "`memory_pressure` with `critical` in the log; `mpsd_memory_pressure 2`, "
       "`mpsd_memory_trims_total` above 0"},
  };
}

std::string MacChecklistText() {
  std::string text;
  int number = 0;
  for (const MacCheck& check : MacChecklist()) {
    absl::StrAppend(&text, ++number, ". ", check.command, "\n   must print: ", check.must_print,
                    "\n");
  }
  return text;
}

}  // namespace mpsd
