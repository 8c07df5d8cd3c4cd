#include "server/supervise/process/worker_binaries.h"

#include <unistd.h>

#include <utility>

namespace mpsd {
namespace {

std::string SyntheticBeside(const std::string& worker) {
  std::string synthetic = worker + WorkerBinaries::kSyntheticSuffix;
  return access(synthetic.c_str(), X_OK) == 0 ? synthetic : worker;
}

}  // namespace

WorkerBinaries::WorkerBinaries(std::string worker)
    : worker_(std::move(worker)), synthetic_(SyntheticBeside(worker_)) {}

}  // namespace mpsd
