// mpsd-make-models: writes TorchScript models.
//
//   mpsd-make-models DIR               writes the models of demos and benchmarks to DIR as NAME.pt
//   mpsd-make-models DIR --large       the large ones too
//   mpsd-make-models DIR --faulty      the tests' models, most of them faulty
//   mpsd-make-models DIR --examples    the models that the examples of Triton's clients call

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "worker/tools/model_maker.h"

namespace mpsd {
namespace {

constexpr int kExitUsage = 64;
constexpr int kExitCannotWrite = 73;

// Returns the exit code; prints an error.
int End(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "mpsd-make-models: %s\n", std::string(status.message()).c_str());
  return kExitCannotWrite;
}

int MakeAll(const std::string& dir, bool large) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  for (const std::string& name : MadeModels(large)) {
    const std::string path = absl::StrCat(dir, "/", name, ".pt");
    const absl::Status status = MakeModel(name, path);
    if (!status.ok()) return End(status);
    std::printf("%s\n", path.c_str());
  }
  return 0;
}

// A model with one fault. It maps rows of four elements to such rows, unless its lines say
// otherwise.
struct Fault {
  const char* name;
  const char* forward;
  bool tells_outputs = true;  // false: the outputs are learned by running the model
  const char* methods = "";   // further ones
};

constexpr Fault kFaults[] = {
    {"nothing", "y = x + 1"},
    {"wrong_type", "return x.long()"},
    {"wrong_batch", "return torch.cat([x, x])"},
    {"gives_nan", "return (x - x) / (x - x)"},
    {"writes", "return x.add_(1)"},
    {"writes_some", "if bool((x[0, 0] > 5).item()):\n        x.add_(1)\n    return x * 1"},
    {"throws_for_a_row", "assert not bool((x == 13).any()), \"a thirteen\"\n    return x * 1"},
    // More than three rows need more memory than the address space has.
    {"out_of_memory",
     "wide = torch.empty([1 << 50 if x.size(0) > 3 else 1])\n    return x + wide.numel()"},
    {"hangs", "while bool((x * 0 == 0).all()):\n        x = x + 0\n    return x", false},
    {"never_built", "return x * 1", true,
     "def __getstate__(self) -> int:\n    return 1\n"
     "def __setstate__(self, state: int) -> None:\n"
     "    while state != 0:\n        state = state + 1\n"},
};

absl::Status MakeFault(const Fault& fault, const std::string& dir) {
  const std::string answer = absl::string_view(fault.name) == "nothing" ? "" : " -> Tensor";
  const std::string source = absl::StrCat(fault.methods, "def forward(self, x: Tensor)", answer,
                                          ":\n    ", fault.forward, "\n");
  constexpr char kInputs[] =
      R"({"max_batch_size": 64, "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}])";
  constexpr char kOutputs[] = R"(, "outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}])";
  const std::string spec = absl::StrCat(kInputs, fault.tells_outputs ? kOutputs : "", "}");
  return MakeScript(source, spec, absl::StrCat(dir, "/", fault.name, ".pt"));
}

// Decoupled: an answer for each element of x, with the random number that forward has drawn.
absl::Status MakeLists(const std::string& dir) {
  constexpr char kSource[] =
      "def forward(self, x: Tensor) -> List[Tuple[Tensor, Tensor]]:\n"
      "    answers: List[Tuple[Tensor, Tensor]] = []\n"
      "    run = torch.rand(1)\n"
      "    for i in range(x.size(0)):\n"
      "        answers.append((x[i:i + 1], run))\n"
      "    return answers\n";
  constexpr char kSpec[] =
      R"({"decoupled": true, "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1]}],)"
      R"( "outputs": [{"name": "y", "datatype": "FP32", "shape": [1]},)"
      R"( {"name": "run", "datatype": "FP32", "shape": [1]}]})";
  return MakeScript(kSource, kSpec, absl::StrCat(dir, "/lists.pt"));
}

// The running sum of a sequence's requests.
absl::Status MakeSums(const std::string& dir) {
  constexpr char kSource[] =
      "def forward(self, x: Tensor, start: Tensor, sum: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "    total = torch.where(start > 0, x, sum + x)\n"
      "    return total, total\n";
  constexpr char kSpec[] =
      R"({"max_batch_size": 16, "inputs": [{"name": "x", "datatype": "FP32", "shape": [1]},)"
      R"( {"name": "start", "datatype": "INT32", "shape": [1]},)"
      R"( {"name": "sum", "datatype": "FP32", "shape": [1]}],)"
      R"( "outputs": [{"name": "y", "datatype": "FP32", "shape": [1]},)"
      R"( {"name": "sum_out", "datatype": "FP32", "shape": [1]}]})";
  return MakeScript(kSource, kSpec, absl::StrCat(dir, "/sums.pt"));
}

int MakeFaulty(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  absl::Status status = MakeRacyModel(absl::StrCat(dir, "/racy.pt"));
  if (status.ok()) status = MakeTrainingModel(absl::StrCat(dir, "/training.pt"));
  if (status.ok()) status = MakeLists(dir);
  if (status.ok()) status = MakeSums(dir);
  for (const Fault& fault : kFaults) {
    if (status.ok()) status = MakeFault(fault, dir);
  }
  return End(status);
}

// Sum and difference of integers, and of their decimal digits; and the unchanged input. Their
// shapes are in the repository's config.pbtxt.
constexpr std::pair<const char*, const char*> kExamples[] = {
    {"simple", "def forward(self, a: Tensor, b: Tensor):\n    return a + b, a - b\n"},
    {"simple_string",
     "def forward(self, a: List[str], b: List[str]) -> Tuple[List[str], List[str]]:\n"
     "    sums: List[str] = []\n"
     "    differences: List[str] = []\n"
     "    for i in range(len(a)):\n"
     "        sums.append(str(int(a[i]) + int(b[i])))\n"
     "        differences.append(str(int(a[i]) - int(b[i])))\n"
     "    return sums, differences\n"},
    {"simple_identity", "def forward(self, a: List[str]) -> List[str]:\n    return a\n"},
};

int MakeExamples(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  absl::Status status;
  for (const auto& [name, source] : kExamples) {
    if (status.ok()) status = MakeScript(source, "", absl::StrCat(dir, "/", name, ".pt"));
  }
  return End(status);
}

int Main(int argc, char** argv) {
  std::string dir;
  bool large = false;
  bool faulty = false;
  bool examples = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--large") {
      large = true;
    } else if (argument == "--faulty") {
      faulty = true;
    } else if (argument == "--examples") {
      examples = true;
    } else if (dir.empty() && argument[0] != '-') {
      dir = argument;
    } else {
      dir.clear();
      break;
    }
  }
  if (dir.empty()) {
    std::fprintf(stderr, "usage: mpsd-make-models DIR [--large | --faulty | --examples]\n");
    return kExitUsage;
  }
  if (examples) return MakeExamples(dir);
  return faulty ? MakeFaulty(dir) : MakeAll(dir, large);
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) { return mpsd::Main(argc, argv); }
