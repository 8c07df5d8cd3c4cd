#include "server/regions/request_regions.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

absl::StatusOr<uint64_t> InputBytes(absl::Span<const RegionUse> uses, uint64_t most_bytes) {
  uint64_t bytes = 0;
  for (const RegionUse& use : uses) {
    if (use.is_output) continue;
    if (use.bytes > most_bytes - bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the inputs of a request in shared memory have at most ", most_bytes, " bytes"));
    }
    bytes += use.bytes;
  }
  return bytes;
}

}  // namespace

absl::Status RequestRegions::Load(absl::Span<const RegionUse> uses, const ConnectionId& connection,
                                  ClientRegions* table, InferMessage* message) {
  Clear();
  const absl::StatusOr<uint64_t> bytes = InputBytes(uses, table->message_bytes());
  if (!bytes.ok()) return bytes.status();
  if (!table->copies()->TryTake(*bytes)) {
    return Busy("too many inputs in shared memory are being copied");
  }
  table_ = table;
  held_bytes_ = *bytes;
  inputs_.reserve(uses.size());  // payloads point into them
  for (const RegionUse& use : uses) {
    absl::StatusOr<std::shared_ptr<const ClientRegion>> region =
        table->Find(connection, use.region);
    if (!region.ok()) return region.status();
    absl::Status status = (*region)->CheckRange(use.offset, use.bytes);
    if (!status.ok()) return status;
    if (use.is_output) {
      outputs_.push_back(
          {std::string(message->outputs[use.tensor]), use.offset, use.bytes, *std::move(region)});
      continue;
    }
    status = LoadInput(use, *std::move(region), &message->inputs[use.tensor]);
    if (!status.ok()) return status;
  }
  output_table_ = table;
  return absl::OkStatus();
}

absl::Status RequestRegions::LoadInput(const RegionUse& use,
                                       std::shared_ptr<const ClientRegion> region,
                                       InputMessage* input) {
  std::string& copy = inputs_.emplace_back(use.bytes, '\0');
  if (region->is_device()) {
    device_inputs_.push_back({copy.data(), use.offset, use.bytes, std::move(region)});
  } else {
    absl::Status status = region->Read(use.offset, absl::MakeSpan(copy.data(), copy.size()));
    if (!status.ok()) return status;
  }
  input->has_data = true;
  input->payload.pieces.clear();
  input->payload.bytes = 0;
  input->payload.Append(copy);
  return absl::OkStatus();
}

absl::Status RequestRegions::LoadFromDevice() {
  for (const DeviceInput& input : device_inputs_) {
    const absl::Span<char> target(input.target, input.bytes);
    if (absl::Status status = input.region->Read(input.offset, target); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RequestRegions::Store(Answer* answer) {
  DropDeviceOutputs();
  for (const Target& target : outputs_) {
    const auto output =
        std::find_if(answer->outputs.begin(), answer->outputs.end(),
                     [&target](const AnswerOutput& other) { return other.name == target.output; });
    if (output == answer->outputs.end()) continue;
    if (output->bytes.size() > target.bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("shared memory size specified with the request for output '", target.output,
                       "' (", target.bytes, " bytes) should be at least ", output->bytes.size(),
                       " bytes to hold the results"));
    }
    if (absl::Status status = Put(output->bytes, target); !status.ok()) return status;
    output->region = {target.region->spec().name, target.offset, output->bytes.size()};
    output->bytes = absl::string_view();
  }
  return absl::OkStatus();
}

absl::Status RequestRegions::Put(absl::string_view bytes, const Target& target) {
  if (!target.region->is_device()) {
    return target.region->Write(target.offset, absl::MakeConstSpan(bytes.data(), bytes.size()));
  }
  if (!output_table_->copies()->TryTake(bytes.size())) {
    return Busy("too many outputs in shared memory are being copied");
  }
  device_outputs_.push_back({std::string(bytes), &target});
  return absl::OkStatus();
}

absl::Status RequestRegions::StoreToDevice() {
  absl::Status status;
  for (const DeviceOutput& output : device_outputs_) {
    const Target& target = *output.target;
    status = target.region->Write(target.offset,
                                  absl::MakeConstSpan(output.bytes.data(), output.bytes.size()));
    if (!status.ok()) break;
  }
  DropDeviceOutputs();
  return status;
}

void RequestRegions::DropDeviceOutputs() {
  for (const DeviceOutput& output : device_outputs_)
    output_table_->copies()->GiveBack(output.bytes.size());
  device_outputs_.clear();
}

void RequestRegions::DropInputs() {
  if (table_ != nullptr) table_->copies()->GiveBack(held_bytes_);
  table_ = nullptr;
  held_bytes_ = 0;
  inputs_.clear();
  device_inputs_.clear();
}

void RequestRegions::Clear() {
  DropInputs();
  DropDeviceOutputs();
  outputs_.clear();
}

}  // namespace mpsd
