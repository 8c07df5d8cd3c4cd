// Sandbox: what a worker takes from itself before it runs a model, whose file is code.
//
// The order is the point. Files are confined while the process has one thread, because the kernel
// confines only the thread that asks and those it starts later. Then the runtime and the device
// start, which need calls that a model does not. Then the calls are sealed, in all threads. Only
// then is the model looked at. docs/sandbox.md says what is denied, and what is not.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/messages.h"

namespace mpsd {

struct SandboxOptions {
  SandboxLevel level = SandboxLevel::kBasic;
  std::string model_file;        // empty: none is read
  std::string temporary_folder;  // the one place to write; empty: there is none
  std::string device = "auto";   // as in LoadOrder; anything but "cpu" opens the device's files
};

// Lives on the main thread of a worker. What it takes is gone for the life of the process.
class Sandbox {
 public:
  // The options that an order asks for, with TMPDIR as the folder.
  static SandboxOptions OptionsOf(const LoadOrder& order);

  // Confines the files and drops the privileges. REQUIRES: no thread was started, and nothing of
  // the model was read. FAILED_PRECONDITION when strict and the host cannot do it whole.
  static absl::StatusOr<Sandbox> Enter(SandboxOptions options);

  // Seals the calls, in every thread. After the runtime and the device, before the model.
  absl::Status Seal() const;

 private:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  SandboxOptions options_;
};

}  // namespace mpsd
