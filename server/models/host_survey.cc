#include "server/models/host_survey.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/base/core_binding.h"
#include "proto/base/memory_nodes.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "server/request/device_list.h"

namespace mpsd {
namespace {

namespace fs = std::filesystem;

// Loading libtorch's code for a gpu takes seconds.
constexpr int64_t kAnswerNs = 60 * kNsPerSecond;

uint64_t BytesOfFile(const fs::path& path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

// A folder's weights may be in several files. Beside safetensors a worker reads no
// pytorch_model.bin.
uint64_t BytesOfFolder(const fs::path& folder) {
  uint64_t safetensors = 0;
  uint64_t others = 0;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    const fs::path& path = file->path();
    if (!IsModelFile(path) || path.extension() == ".json") continue;
    (path.extension() == ".safetensors" ? safetensors : others) += BytesOfFile(path);
  }
  return safetensors > 0 ? safetensors : others;
}

}  // namespace

bool ReadDevices(const std::string& line, HostFacts* host) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("devices")) return false;
  const nlohmann::json& devices = json["devices"];
  if (!devices.is_array() || devices.empty() || !devices[0].is_string()) return false;
  host->auto_device = devices[0].get<std::string>();
  host->cuda_devices = static_cast<uint32_t>(
      std::count_if(devices.begin(), devices.end(), [](const nlohmann::json& device) {
        return device.is_string() && absl::StartsWith(device.get<std::string>(), "cuda:");
      }));
  if (json.contains("passed_over") && json["passed_over"].is_string()) {
    host->passed_over = absl::Utf8SafeCEscape(json["passed_over"].get<std::string>());
  }
  if (json.contains("gpu_addresses") && json["gpu_addresses"].is_array()) {
    for (const nlohmann::json& address : json["gpu_addresses"]) {
      host->gpu_addresses.push_back(address.is_string() ? address.get<std::string>() : "");
    }
  }
  if (json.contains("runtime_kind") && json["runtime_kind"].is_string()) {
    host->runtime_kind = FromName<RuntimeKind>(json["runtime_kind"].get<std::string>());
  }
  return true;
}

bool DependsOnDevices(const ModelConfig& model, bool has_nodes) {
  if (model.format == ModelFormat::kSynthetic) return false;
  if (has_nodes && model.device != "cpu") return true;
  return model.device == "auto" || model.device == kAllCudaDevices ||
         absl::StartsWith(model.device, "mps");
}

HostFacts HostSurvey::FactsFor(absl::Span<const ModelConfig> models) {
  HostFacts facts;
  const std::vector<uint32_t> allowed = CoreBinding::OfThread();
  const MemoryNodes nodes(sysfs_, allowed);
  const bool has_nodes = nodes.cores().size() > 1;
  const auto depends = [&](const ModelConfig& model) { return DependsOnDevices(model, has_nodes); };
  if (platform::MayHaveGpu() && std::any_of(models.begin(), models.end(), depends)) {
    absl::MutexLock lock(&mu_);
    if (!asked_) AskWorker();
    facts = devices_;
  }
  facts.cuda_mps = cuda_mps_;
  facts.cores = platform::UsableCores();
  // Under a quota others use these cores too, and only the kernel knows where room is.
  if (has_nodes && facts.cores == allowed.size()) {
    facts.nodes = nodes.cores();
    for (const std::string& address : facts.gpu_addresses) {
      facts.gpu_nodes.push_back(nodes.NodeOfGpu(address));
    }
  }
  facts.file_bytes = FileBytes(models);
  return facts;
}

void HostSurvey::AskWorker() {
  asked_ = true;
  std::string complaint;
  const absl::StatusOr<ChildOutput> output = RunChild(worker_binary_, {"--devices"}, kAnswerNs);
  if (!output.ok()) {
    complaint = std::string(output.status().message());
  } else if (output->exit_code != 0 || !ReadDevices(LastLine(output->text), &devices_)) {
    complaint = absl::StrCat("mpsd-worker --devices: exit ", output->exit_code, ": ",
                             LastLine(output->text));
  }
  if (!complaint.empty()) {
    devices_.passed_over = absl::StrCat("any gpu: ", absl::Utf8SafeCEscape(complaint));
    logger_->Log(LogLevel::kWarn, "devices_unknown", {{"reason", complaint}});
  } else if (!devices_.passed_over.empty()) {
    logger_->Log(LogLevel::kWarn, "device_passed_over",
                 {{"device", devices_.auto_device}, {"reason", devices_.passed_over}});
  }
  // Apple's gpu uses the host's memory.
  if (devices_.auto_device == "mps") devices_.working_set_bytes = platform::AvailableMemoryBytes();
}

std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models) {
  std::vector<uint64_t> bytes;
  for (const ModelConfig& model : models) {
    std::error_code error;
    const bool is_folder = fs::is_directory(model.path, error);
    bytes.push_back(is_folder ? BytesOfFolder(model.path) : BytesOfFile(model.path));
  }
  return bytes;
}

}  // namespace mpsd
