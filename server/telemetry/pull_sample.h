// PullSample: how far the fetch of a model from a hub is.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Both counts include the bytes that the cache had before. A value.
struct PullSample {
  std::string source;           // "ORG/NAME@REVISION", as the config has it
  uint64_t bytes = 0;           // on this host
  uint64_t expected_bytes = 0;  // all needed files; 0: not known yet
};

}  // namespace mpsd
