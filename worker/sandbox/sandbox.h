// Sandbox: the rights that a worker gives up before it runs a model, whose file is code.
//
// The order matters:
//   1. Files are confined while the process has one thread, because the kernel confines only the
//      calling thread and threads that it starts later.
//   2. The runtime and the device start, which need system calls that a model does not.
//   3. The system calls are sealed, in all threads.
//   4. Only then is the model's file opened.
//
// LoadInSandbox() (worker/load/load_in_sandbox.h) keeps this order, and is the only caller.
//
// docs/sandbox.md says what is denied, and what is not.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/messages.h"

namespace mpsd {

// The resources that a sandbox must leave to this worker. Made by Sandbox::OptionsOf(), constant
// afterwards.
struct SandboxOptions {
  SandboxLevel level = SandboxLevel::kBasic;
  std::string model_file;        // empty: no model file is read
  std::string temporary_folder;  // the only writable folder; empty: there is none
  std::string device = "auto";   // as in LoadOrder; anything but "cpu" opens the device's files
};

// Made by LoadInSandbox() at the start of the process, once in a process. The object only remembers
// the options between the two steps: the rights stay gone for the life of the process, even after
// the object is gone. Lives on the worker's main thread.
//
// The levels (SandboxLevel) differ if the host cannot do everything:
//
//   kOff      nothing is asked of the host, and nothing fails
//   kBasic    stderr says what the host cannot do, and the worker goes on
//   kStrict   FAILED_PRECONDITION; the worker does not serve
class Sandbox {
 public:
  // The options that an order asks for, with TMPDIR as the folder: the supervisor gives each worker
  // its own folder there. A synthetic model needs no device's files, whatever its device is.
  static SandboxOptions OptionsOf(const LoadOrder& order);

  // Confines the files and drops the privileges. The process must still have one thread, and must
  // not have read any of the model. Also sets CUDA_CACHE_PATH to the temporary folder: the device's
  // compiler would write to the home folder, which is out of reach from here on.
  static absl::StatusOr<Sandbox> Enter(SandboxOptions options);

  // Seals the calls, in every thread. Called after the runtime and the device have started, before
  // the model is opened. Fails as Enter() does.
  absl::Status Seal() const;

 private:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  SandboxOptions options_;
};

}  // namespace mpsd
