// ReadyTable: the first thing that a person sees who has started the daemon.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

struct ReadyTableFacts {
  std::string program;            // as a person can type it here
  std::vector<std::string> grpc;  // bound addresses
  std::string http;               // empty: none
};

// Returns a table of the models, and lines to copy and try. Pure, except that it reads the models'
// atomics.
std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers);

}  // namespace mpsd
