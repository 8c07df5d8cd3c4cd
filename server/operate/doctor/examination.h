// Examination: what `mpsd doctor` has seen of the host, not judged yet.
//
//   Examine() ── looks and tries ──▶ Examination ── Diagnose(), pure ──▶ findings
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

// An address of the config, and whether a daemon could listen there now.
struct ExaminedAddress {
  std::string address;
  absl::Status free;
};

// Facts from mpsd-worker, the only program with libtorch.
struct ExaminedWorker {
  std::string path;
  absl::Status answered;     // result of `mpsd-worker --devices`; unless OK the rest is unknown
  std::string runtime;       // "torch 2.11.0"
  std::string runtime_kind;  // a name of RuntimeKind
  std::vector<std::string> devices;
  std::string passed_over;   // the device that "auto" does not mean, and why; or empty
  absl::Status sandboxed;    // whether a process here could give up the rights of "strict"
  std::string devices_line;  // as the worker wrote it, for the report
  std::string sandbox_line;  // as the worker wrote it, for the report
};

// A value, made by Examine().
struct Examination {
  std::string system;   // "Linux" or "Darwin"
  std::string release;  // kernel version: "6.1.0", "23.4.0"
  std::string machine;  // "x86_64", "arm64"
  uint32_t cores = 0;
  uint64_t memory_bytes = 0;  // left by the host and the cgroup
  uint64_t page_bytes = 0;

  std::string config_file;  // empty: none, so the defaults apply
  absl::Status config;
  SandboxLevel sandbox = SandboxLevel::kBasic;  // the config's
  std::string state_dir;
  absl::Status state_dir_usable;
  std::vector<ExaminedAddress> addresses;

  DescriptorNeeds needs;     // one worker for each model of the config
  uint64_t descriptors = 0;  // a daemon's limit, once raised
  uint64_t locked_bytes = 0;
  std::optional<uint64_t> named_memory_bytes;  // room in /dev/shm; nothing: no such folder
  absl::Status shared_memory;                  // made, and read without the right to write
  absl::Status sockets;                        // made, and asked for the user at the other end

  ExaminedWorker worker;
  std::vector<std::string> environment;  // "NAME=value" of the variables that libtorch reads
};

}  // namespace mpsd
