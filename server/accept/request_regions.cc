#include "server/accept/request_regions.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

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
  if (!table->TryHold(*bytes)) {
    return absl::ResourceExhaustedError("too many inputs in shared memory are being copied");
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
    status = LoadInput(use, **region, &message->inputs[use.tensor]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RequestRegions::LoadInput(const RegionUse& use, const ClientRegion& region,
                                       InputMessage* input) {
  std::string& copy = inputs_.emplace_back(use.bytes, '\0');
  absl::Status status = region.Read(use.offset, absl::MakeSpan(copy.data(), copy.size()));
  if (!status.ok()) return status;
  input->has_data = true;
  input->payload.pieces.clear();
  input->payload.bytes = 0;
  input->payload.Append(copy);
  return absl::OkStatus();
}

absl::Status RequestRegions::Store(Answer* answer) const {
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
    absl::Status status = target.region->Write(
        target.offset, absl::MakeConstSpan(output->bytes.data(), output->bytes.size()));
    if (!status.ok()) return status;
    output->region = {target.region->spec().name, target.offset, output->bytes.size()};
    output->bytes = absl::string_view();
  }
  return absl::OkStatus();
}

void RequestRegions::DropInputs() {
  if (table_ != nullptr) table_->Release(held_bytes_);
  table_ = nullptr;
  held_bytes_ = 0;
  inputs_.clear();
}

void RequestRegions::Clear() {
  DropInputs();
  outputs_.clear();
}

}  // namespace mpsd
