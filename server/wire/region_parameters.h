// RegionUse: what a request says of one tensor that lies in its client's own memory.
#pragma once

#include <google/protobuf/map.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

struct RegionUse {
  bool is_output = false;
  size_t tensor = 0;         // index into the message's inputs or outputs
  absl::string_view region;  // empty: the tensor does not say one
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads the parameters "shared_memory_region", "…_offset" and "…_byte_size" of the tensor. Returns
// why they cannot be taken, in the words that clients know; empty: they can. The use's view lives
// as long as the parameters. Thread-safe.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

}  // namespace mpsd
