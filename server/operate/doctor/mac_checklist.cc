#include "server/operate/doctor/mac_checklist.h"

#include "absl/strings/str_cat.h"

namespace mpsd {

std::vector<MacCheck> MacChecklist() {
  return {
      {"`./run serve` on a fresh clone",
       "the table of addresses, within 30 minutes; send the first error of the compiler"},
      {R"(`build/release/bin/mpsd serve config/demo.json` with `"device": "mps"` for `mlp`, then )"
       "`build/release/bin/mpsd ps`",
       "`mlp` ready on `mps`, with `inputs in_place`; else send the log's line `memory: `"},
      {"`worker/libtorch/build_patched.sh ~/torch-patched v2.9.1`",
       "`patched: stream-pool, …` within minutes; at the end `torch-patched: patched`; send how "
       "long, and the first error"},
      {"`MPSD_LIBTORCH=~/torch-patched ./run bench --mac`, then the same without the variable",
       "`PASS` in the line of each bar with the patched one; send both reports"},
      {"`MPSD_LIBTORCH=~/torch-patched ./run serve` with check 2's config, then "
       "`build/release/bin/mpsd ps`",
       "`patched, driver guard held`, and eight lanes where `placement.lanes` is 8"},
      {"`MPS_COMMIT_AND_CONTINUE=main MPSD_LIBTORCH=~/torch-patched ./run bench --mac`, if a bar "
       "of "
       "check 4 fails",
       "`PASS` where check 4 failed: then commit-and-continue races on other streams; send the "
       "report"},
      {"`build/release/bin/mpsd infer NAME --input input=random` for a model whose batch needs "
       "more "
       "than the Mac's memory, twice",
       "RESOURCE_EXHAUSTED `out of memory`, and the same process in `mpsd ps` after both"},
      {"`sudo memory_pressure -S -l critical` while check 2's model serves; then `curl -s "
       "127.0.0.1:8002/metrics | grep memory`",
       "`mpsd_memory_pressure 2`, `mpsd_memory_trims_total` above 0"},
      {"`pmset sleepnow` for two minutes, during a call with a deadline of 60 s to a model that "
       "takes 30 s",
       "an answer, not DEADLINE_EXCEEDED; no `worker_killed` in the log"},
      {"`deploy/launchd/check.sh build/release`, then the LaunchDaemon of deploy/README.md with "
       "check 2's model, and a restart without a login",
       "`ready after … s`; after the login, `ready` in `mpsd ps`"},
  };
}

std::string MacChecklistText() {
  std::string text;
  int number = 0;
  for (const MacCheck& check : MacChecklist()) {
    absl::StrAppend(&text, ++number, ". ", check.command, "\n   must print: ", check.must_print,
                    "\n");
  }
  text += "At the end, send the file that `mpsd doctor --mac-report mac.txt` writes.\n";
  return text;
}

}  // namespace mpsd
