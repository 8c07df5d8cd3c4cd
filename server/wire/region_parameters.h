// RegionUse: which range of the client's own memory holds one tensor, as the request says it.
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
  absl::string_view region;  // the region's name; empty: the tensor lies in no region
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads the parameters "shared_memory_region", "…_offset" and "…_byte_size" of a tensor into `use`,
// whose view lives as long as the parameters. Returns why they are refused, in words that clients
// match on; empty when they are accepted. Pure.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

}  // namespace mpsd
