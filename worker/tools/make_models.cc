// mpsd-make-models DIR [--large]: writes the models of demos and benchmarks to DIR as NAME.pt.
// mpsd-make-models DIR --faulty: writes the tests' faulty models there, which a worker must refuse
// or survive.

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "worker/tools/model_maker.h"

namespace mpsd {
namespace {

constexpr int kExitUsage = 64;
constexpr int kExitCannotWrite = 73;

int MakeAll(const std::string& dir, bool large) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  for (const std::string& name : MadeModels(large)) {
    const std::string path = absl::StrCat(dir, "/", name, ".pt");
    const absl::Status status = MakeModel(name, path);
    if (!status.ok()) {
      std::fprintf(stderr, "mpsd-make-models: %s\n", std::string(status.message()).c_str());
      return kExitCannotWrite;
    }
    std::printf("%s\n", path.c_str());
  }
  return 0;
}

// A model with one fault, and its lines of forward. It takes and gives rows of four elements,
// unless its lines say otherwise.
struct Fault {
  const char* name;
  const char* forward;
  bool tells_outputs = true;  // false: the outputs are learned by running the model
};

constexpr Fault kFaults[] = {
    {"nothing", "y = x + 1"},
    {"wrong_type", "return x.long()"},
    {"wrong_batch", "return torch.cat([x, x])"},
    {"gives_nan", "return (x - x) / (x - x)"},
    {"writes", "return x.add_(1)"},
    {"writes_some", "if bool((x[0, 0] > 5).item()):\n        x.add_(1)\n    return x * 1"},
    {"throws_for_a_row", "assert not bool((x == 13).any()), \"a thirteen\"\n    return x * 1"},
    // More than three rows at once take more memory than the address space has.
    {"out_of_memory",
     "wide = torch.empty([1 << 50 if x.size(0) > 3 else 1])\n    return x + wide.numel()"},
    {"hangs", "while bool((x * 0 == 0).all()):\n        x = x + 0\n    return x", false},
};

absl::Status MakeFault(const Fault& fault, const std::string& dir) {
  const std::string answer = absl::string_view(fault.name) == "nothing" ? "" : " -> Tensor";
  const std::string source =
      absl::StrCat("def forward(self, x: Tensor)", answer, ":\n    ", fault.forward, "\n");
  constexpr char kInputs[] =
      R"({"max_batch_size": 64, "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}])";
  constexpr char kOutputs[] = R"(, "outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}])";
  const std::string spec = absl::StrCat(kInputs, fault.tells_outputs ? kOutputs : "", "}");
  return MakeScript(source, spec, absl::StrCat(dir, "/", fault.name, ".pt"));
}

int MakeFaulty(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  absl::Status status = MakeRacyModel(absl::StrCat(dir, "/racy.pt"));
  if (status.ok()) status = MakeTrainingModel(absl::StrCat(dir, "/training.pt"));
  for (const Fault& fault : kFaults) {
    if (status.ok()) status = MakeFault(fault, dir);
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "mpsd-make-models: %s\n", std::string(status.message()).c_str());
  return kExitCannotWrite;
}

int Main(int argc, char** argv) {
  std::string dir;
  bool large = false;
  bool faulty = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--large") {
      large = true;
    } else if (argument == "--faulty") {
      faulty = true;
    } else if (dir.empty() && argument[0] != '-') {
      dir = argument;
    } else {
      dir.clear();
      break;
    }
  }
  if (dir.empty()) {
    std::fprintf(stderr, "usage: mpsd-make-models DIR [--large | --faulty]\n");
    return kExitUsage;
  }
  return faulty ? MakeFaulty(dir) : MakeAll(dir, large);
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) { return mpsd::Main(argc, argv); }
