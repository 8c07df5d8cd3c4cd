#include "server/operate/doctor/examine.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/base/descriptor_limit.h"
#include "proto/base/limits.h"
#include "proto/base/peer_user.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "proto/files/private_folder.h"
#include "server/http/connections/address_probe.h"

extern "C" char** environ;

namespace mpsd {
namespace {

using nlohmann::json;

// Loading libtorch's code for a gpu takes seconds.
constexpr int64_t kAnswerNs = 60 * kNsPerSecond;

// Libtorch, Metal, CUDA and the loader read these. None holds a secret.
constexpr absl::string_view kReadByRuntimes[] = {
    "PYTORCH_", "MPS_", "OMP_", "MKL_", "MTL_", "METAL_", "CUDA_", "DYLD_", "LD_LIBRARY_PATH"};

void LookAtHost(Examination* seen) {
  utsname name{};
  if (uname(&name) == 0) {
    seen->system = name.sysname;
    seen->release = name.release;
    seen->machine = name.machine;
  }
  seen->cores = platform::UsableCores();
  seen->memory_bytes = platform::AvailableMemoryBytes();
  seen->page_bytes = platform::PageBytes();
}

void LookAtLimits(Examination* seen) {
  seen->descriptors = RaiseOwnDescriptorLimit();
  rlimit locked{};
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0) {
    seen->locked_bytes = locked.rlim_cur == RLIM_INFINITY ? UINT64_MAX : locked.rlim_cur;
  }
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) == 0) {
    seen->named_memory_bytes = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  }
}

// A worker may only read the requests' memory, and must not make a mapping writable later.
absl::Status TryToWriteAsReader(int fd, uint64_t bytes) {
  const absl::StatusOr<void*> writable = platform::MapSharedMemory(fd, bytes, /*writable=*/true);
  if (writable.ok()) {
    platform::UnmapSharedMemory(*writable, bytes);
    return absl::FailedPreconditionError("a reader of shared memory can map it to write");
  }
  const absl::StatusOr<void*> readable = platform::MapSharedMemory(fd, bytes, /*writable=*/false);
  if (!readable.ok()) return readable.status();
  const bool opened = mprotect(*readable, bytes, PROT_READ | PROT_WRITE) == 0;
  platform::UnmapSharedMemory(*readable, bytes);
  if (!opened) return absl::OkStatus();
  return absl::FailedPreconditionError("a reader of shared memory can make its mapping writable");
}

absl::Status TrySharedMemory() {
  const uint64_t bytes = platform::PageBytes();
  const absl::StatusOr<platform::SharedMemory> memory =
      platform::CreateSharedMemory(bytes, platform::SharedMemoryWriter::kCreator);
  if (!memory.ok()) return memory.status();
  const absl::Status status = TryToWriteAsReader(memory->readonly_fd.get(), bytes);
  platform::UnmapSharedMemory(memory->data, memory->bytes);
  return status;
}

absl::Status TrySockets() {
  const auto pair = platform::SocketPair();
  if (!pair.ok()) return pair.status();
  const absl::StatusOr<uint32_t> user = platform::PeerUser(pair->first.get());
  if (!user.ok()) return user.status();
  if (*user == geteuid()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the other end of an own socket is said to be user ", *user));
}

// Makes no folder.
absl::Status TryStateFolder(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0) return MakePrivateFolder(path);
  std::filesystem::path above = std::filesystem::path(path).parent_path();
  while (above.has_relative_path() && access(above.c_str(), F_OK) != 0) {
    above = above.parent_path();
  }
  struct stat info {};
  if (stat(above.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " cannot be made: ", above.string(), " is no folder"));
  }
  if (access(above.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat(path, " cannot be made in ", above.string()));
}

// A socket in a state folder that does not exist yet says nothing.
std::vector<ExaminedAddress> TryAddresses(const Config& config) {
  const ListenConfig& listen = config.listen;
  std::vector<std::string> addresses;
  for (const auto* some : {&listen.grpc, &listen.tls.grpc, &listen.http, &listen.tls.http}) {
    addresses.insert(addresses.end(), some->begin(), some->end());
  }
  std::vector<ExaminedAddress> tried;
  for (std::string& address : addresses) {
    const bool inside = absl::StartsWith(address, absl::StrCat("unix:", config.state_dir, "/"));
    if (inside && access(config.state_dir.c_str(), F_OK) != 0) continue;
    absl::Status free = ProbeAddress(address);
    tried.push_back({std::move(address), std::move(free)});
  }
  return tried;
}

// The last line of the answer. The worker exits with 0 even if it refuses.
absl::StatusOr<std::string> Ask(const std::string& worker, const char* flag) {
  const absl::StatusOr<ChildOutput> output = RunChild(worker, {flag}, kAnswerNs);
  if (!output.ok()) return output.status();
  std::string line = LastLine(output->text);
  if (output->exit_code == 0) return line;
  return absl::InternalError(absl::StrCat(flag, ": exit ", output->exit_code, ": ", line));
}

void AskWorker(ExaminedWorker* worker) {
  absl::StatusOr<std::string> line = Ask(worker->path, "--devices");
  worker->answered = line.ok() ? ReadDevicesLine(*line, worker) : line.status();
  if (line.ok()) worker->devices_line = *std::move(line);
  line = Ask(worker->path, "--sandbox");
  worker->sandboxed = line.ok() ? ReadSandboxLine(*line) : line.status();
  if (line.ok()) worker->sandbox_line = *std::move(line);
}

std::vector<std::string> EnvironmentOfRuntimes() {
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view text = *variable;
    const bool read =
        std::any_of(std::begin(kReadByRuntimes), std::end(kReadByRuntimes),
                    [&](absl::string_view prefix) { return absl::StartsWith(text, prefix); });
    if (read) found.emplace_back(text);
  }
  return found;
}

absl::Status NotUnderstood(const std::string& line) {
  return absl::InvalidArgumentError(absl::StrCat("mpsd-worker answered: ", line));
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// About as many as the front end holds open, without the tokenizer's.
uint64_t FilesOf(const ModelConfig& model) {
  if (model.format == ModelFormat::kHuggingFace) {
    return std::min<uint64_t>(FilesOfFolder(model.path).size(), kMaxMessageFds);
  }
  return model.format == ModelFormat::kSynthetic ? 0 : 1;
}

}  // namespace

absl::Status ReadDevicesLine(const std::string& line, ExaminedWorker* worker) {
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("devices") || !object["devices"].is_array()) {
    return NotUnderstood(line);
  }
  std::vector<std::string> devices;
  for (const json& device : object["devices"]) {
    if (!device.is_string()) return NotUnderstood(line);
    devices.push_back(device.get<std::string>());
  }
  worker->devices = std::move(devices);
  worker->passed_over = TextOf(object, "passed_over");
  worker->runtime = TextOf(object, "runtime");
  worker->runtime_kind = TextOf(object, "runtime_kind");
  return absl::OkStatus();
}

absl::Status ReadSandboxLine(const std::string& line) {
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return NotUnderstood(line);
  if (TextOf(object, "sandbox") == NameOf(SandboxLevel::kStrict)) return absl::OkStatus();
  const std::string error = TextOf(object, "error");
  return error.empty() ? NotUnderstood(line) : absl::FailedPreconditionError(error);
}

Examination Examine(const Config& config, const std::string& worker) {
  Examination seen;
  LookAtHost(&seen);
  LookAtLimits(&seen);
  seen.sandbox = config.sandbox;
  seen.needs.models = config.models.size();
  for (const ModelConfig& model : config.models) seen.needs.files += FilesOf(model);
  seen.needs.workers = config.models.size();
  seen.needs.connections = config.limits.connections;
  seen.shared_memory = TrySharedMemory();
  seen.sockets = TrySockets();
  seen.state_dir = config.state_dir;
  seen.state_dir_usable = TryStateFolder(config.state_dir);
  seen.addresses = TryAddresses(config);
  seen.worker.path = worker;
  AskWorker(&seen.worker);
  seen.environment = EnvironmentOfRuntimes();
  return seen;
}

}  // namespace mpsd
