// mpsd-make-models DIR [--large]: writes the models of demos and benchmarks to DIR as NAME.pt.
// mpsd-make-models DIR --faulty: writes those of tests there that a worker must not simply serve.

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
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

int MakeFaulty(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  absl::Status status = MakeRacyModel(absl::StrCat(dir, "/racy.pt"));
  if (status.ok()) status = MakeTrainingModel(absl::StrCat(dir, "/training.pt"));
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
