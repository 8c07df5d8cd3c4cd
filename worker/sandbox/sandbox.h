// Sandbox: the rights that a worker gives up before it runs a model, whose file is code.
//
// LoadInSandbox() keeps this order:
//   1. Files are confined while the process has one thread, because the kernel confines only the
//      calling thread and threads that it starts later.
//   2. The runtime and the device start, which need system calls that a model does not.
//   3. The system calls are sealed, in all threads.
//   4. Only then is the model's file opened.
//
// docs/sandbox.md says what is denied, and what is not.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/messages.h"

namespace mpsd {

// The sandbox must leave this to the worker. Made by Sandbox::OptionsOf(), then constant.
struct SandboxOptions {
  SandboxLevel level = SandboxLevel::kBasic;
  std::string model_file;        // empty: none is read
  std::string temporary_folder;  // the only writable folder; empty: none
  std::string device = "auto";   // as in LoadOrder; all but "cpu" open the device's files
};

// Made once in a process. The rights stay gone even after the object is gone. Lives on the main
// thread.
//
// If the host cannot do everything:
//
//   kOff      nothing is asked of the host, and nothing fails
//   kBasic    stderr says what the host cannot do, and the worker goes on
//   kStrict   FAILED_PRECONDITION; the worker does not serve
class Sandbox {
 public:
  // The supervisor gives each worker a TMPDIR. A synthetic model needs no device's files.
  static SandboxOptions OptionsOf(const LoadOrder& order);

  // Confines the files and drops the privileges. REQUIRES: the process has one thread, and has read
  // nothing of the model.
  static absl::StatusOr<Sandbox> Enter(SandboxOptions options);

  // Called between the start of the device and the model's opening. Fails as Enter() does.
  absl::Status Seal() const;

 private:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  SandboxOptions options_;
};

}  // namespace mpsd
