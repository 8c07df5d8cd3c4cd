// metal_cases CASE [THREADS] [ROUNDS]: runs one case on mps over the stand-in of Metal.
// The last line is "CASE: wrong N, failed N, rules NAME N, …". The exit status is 1 if anything
// went wrong.
#include <ATen/ATen.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/metal/backend/programs/case.h"
#include "tests/metal/rules/rule.h"

namespace mpsd::standin {
namespace {

const std::map<std::string, Case>& Cases() {
  static const auto* const cases =
      new std::map<std::string, Case>{{"copies", &Copies},
                                      {"device-waits", &DeviceWaits},
                                      {"freed-buffers", &FreedBuffers},
                                      {"churn", &Churn},
                                      {"events", &Events},
                                      {"layers", &Layers},
                                      {"layer-norms", &LayerNorms},
                                      {"waits-for-others", &WaitsForOthers},
                                      {"untimed-events", &UntimedEvents},
                                      {"exhaustion", &Exhaustion},
                                      {"patience", &Patience},
                                      {"convolutions", &Convolutions},
                                      {"attention", &Attention},
                                      {"many-shapes", &ManyShapes},
                                      {"kept-buffers", &KeptBuffers},
                                      {"continues", &Continues},
                                      {"own-queues", &OwnQueues},
                                      {"trims-in-blocks", &TrimsInBlocks},
                                      {"freed-beside-trims", &FreedBesideTrims},
                                      {"forks", &Forks},
                                      {"kernel-blocks", &KernelBlocks},
                                      {"shared-streams", &SharedStreams},
                                      {"views", &Views},
                                      {"guards", &Guards}};
  return *cases;
}

int Run(const std::string& name, const CaseSize& size) {
  // The main thread is the first on the device, as in a worker.
  const at::Tensor first = at::zeros({1}).to("mps");
  CaseCounts counts;
  Cases().at(name)(size, counts);
  const BrokenRules& rules = BrokenRules::All();
  std::printf("%s: wrong %d, failed %d, rules %s\n", name.c_str(), counts.wrong.load(),
              counts.failed.load(), rules.Summary().c_str());
  return counts.wrong + counts.failed > 0 || rules.Total() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace mpsd::standin

int main(int argc, char** argv) {
  using mpsd::standin::Cases;
  if (argc < 2 || Cases().count(argv[1]) == 0) {
    for (const auto& [name, unused] : Cases()) std::printf("%s\n", name.c_str());
    return 2;
  }
  mpsd::standin::CaseSize size;
  if (argc > 2) size.threads = std::atoi(argv[2]);
  if (argc > 3) size.rounds = std::atoi(argv[3]);
  const int status = mpsd::standin::Run(argv[1], size);
  std::fflush(stdout);
  _exit(status);  // the gpu's threads still run
}
