// ReadyTable: the first output for a person who has started the daemon.
//
//   mpsd 0.2.0 takes gRPC calls on 127.0.0.1:8001, http on 127.0.0.1:8002
//
//     MODEL   STATE      DEVICE  WORKERS  INPUTS -> OUTPUTS
//     resnet  ready      cpu     1x4      x:FP32[…] -> …
//     bert    NOT READY  -       1x4      waits for its worker
//
//   Try:
//     mpsd infer resnet --input x=random --server 127.0.0.1:9001
//
// A line to try names the server, unless a client finds it by default. WORKERS is processes times
// lanes. A model that is not ready shows its first worker's last words, a REFUSED one the reason.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// Besides the models. A value.
struct ReadyTableFacts {
  std::string program;            // as a person can type it here
  std::vector<std::string> grpc;  // bound addresses
  size_t plain_count = 0;         // the first so many are without TLS
  std::vector<std::string> http;  // the same for HTTP; empty: none
  size_t plain_http_count = 0;    // the same for HTTP
  bool colours = false;           // stdout takes them
  bool tokens = false;            // the rules of access know some
};

// Options for verbs of the command line. Empty for the default address, else " --server HOST:PORT",
// with " --tls" if all have TLS. A wildcard address becomes its family's loopback address. With
// tokens there is " --token-file FILE" too. Pure.
std::string ClientOptions(const ReadyTableFacts& facts);

inline constexpr size_t kMostExamples = 3;

// The table, and at most kMostExamples lines to try. A model has one if it is ready and the command
// line can make its inputs up. Called by main, after the models are settled.
std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers);

}  // namespace mpsd
