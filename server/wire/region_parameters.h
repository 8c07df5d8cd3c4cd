// RegionUse: which range of the client's own memory holds one tensor, as the request says it.
#pragma once

#include <google/protobuf/map.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// What one tensor of a request says of a region. RequestWire reads it off the tensor's parameters;
// RequestRegions finds the region among those of the client's connection and copies. Nothing here
// is checked against a region: name, offset and size are what the client wrote.
//
//   the region that the client registered     |-----------------------------------|
//   shared_memory_offset 4096                 |--------->
//   shared_memory_byte_size 1024                        |====| this tensor
struct RegionUse {
  bool is_output = false;
  size_t tensor = 0;         // index into the message's inputs or outputs
  absl::string_view region;  // the region's name; empty: the tensor lies in no region
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads the parameters "shared_memory_region", "…_offset" and "…_byte_size" of a tensor into `use`,
// whose view lives as long as the parameters; `is_output` and `tensor` are the caller's to set. A
// tensor without the first parameter lies in no region, and must not have the others; one with it
// must have a size, and its offset is 0 where none is given. Returns why the parameters are
// refused, in words that clients match on, and the request is INVALID_ARGUMENT; empty when they are
// accepted. Pure.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

}  // namespace mpsd
