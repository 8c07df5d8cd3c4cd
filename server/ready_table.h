// ReadyTable: what a person who just started the daemon wants to see.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

struct ReadyTableFacts {
  std::string program;            // how to call mpsd from here
  std::vector<std::string> grpc;  // bound addresses
  std::string http;               // empty: none
};

// A table of models and lines to copy and try. Pure but for the models' atomics.
std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers);

}  // namespace mpsd
