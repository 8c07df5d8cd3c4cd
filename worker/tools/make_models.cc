// mpsd-make-models DIR [--large]: writes the models of demos and benchmarks to DIR as NAME.pt.

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

int Main(int argc, char** argv) {
  std::string dir;
  bool large = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--large") {
      large = true;
    } else if (dir.empty() && argument[0] != '-') {
      dir = argument;
    } else {
      dir.clear();
      break;
    }
  }
  if (dir.empty()) {
    std::fprintf(stderr, "usage: mpsd-make-models DIR [--large]\n");
    return kExitUsage;
  }
  return MakeAll(dir, large);
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) { return mpsd::Main(argc, argv); }
