// Examination: what `mpsd doctor` has seen of the host, not judged yet.
//
// A status says how a trial ended: OK, or the system's own words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/link/sandbox_level.h"
#include "server/operate/doctor/descriptor_needs.h"

namespace mpsd {

// Whether a daemon could listen there now.
struct ExaminedAddress {
  std::string address;
  absl::Status free;
};

// From mpsd-worker.
struct ExaminedWorker {
  std::string path;
  absl::Status answered;     // unless OK the rest is unknown
  std::string runtime;       // "torch 2.11.0"
  std::string runtime_kind;  // a name of RuntimeKind
  std::vector<std::string> devices;
  std::string passed_over;   // the device that "auto" does not mean, and why; or empty
  absl::Status sandboxed;    // whether a process here could give up the rights of "strict"
  std::string devices_line;  // as the worker wrote it
  std::string sandbox_line;
};

// A value.
struct Examination {
  std::string system;   // "Linux", "Darwin"
  std::string release;  // the kernel's: "6.1.0", "23.4.0"
  std::string machine;
  uint32_t cores = 0;
  uint64_t memory_bytes = 0;  // left by host and cgroup
  uint64_t page_bytes = 0;

  std::string config_file;  // empty: none, so the defaults apply
  absl::Status config;
  SandboxLevel sandbox = SandboxLevel::kBasic;  // the config's
  std::string state_dir;
  absl::Status state_dir_usable;
  std::vector<ExaminedAddress> addresses;

  DescriptorNeeds needs;     // with one worker for each model
  uint64_t descriptors = 0;  // a daemon's limit, once raised
  uint64_t locked_bytes = 0;
  std::optional<uint64_t> named_memory_bytes;  // room in /dev/shm; nothing: no such folder
  absl::Status shared_memory;                  // made, and read without the right to write
  absl::Status sockets;                        // made, and asked for the user at the other end

  ExaminedWorker worker;
  std::vector<std::string> environment;  // "NAME=value" of the variables that libtorch reads
};

}  // namespace mpsd
