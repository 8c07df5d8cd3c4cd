// ReadyTable: the first output for a person who has started the daemon.
//
// Printed to stdout once, when every model is settled, in service or in failure. It is for people;
// programs have /readyz, `mpsd ps --json` and the log.
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
// lanes. A model that is not ready shows its first worker's last words, if any. A REFUSED model
// shows the reason.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// The table's facts besides the models. A value.
struct ReadyTableFacts {
  std::string program;            // as a person can type it here
  std::vector<std::string> grpc;  // bound addresses, with the ports that the system chose
  size_t plain_count = 0;         // how many of them, the first ones, are without TLS
  std::vector<std::string> http;  // the same for HTTP; empty: none
  size_t plain_http_count = 0;    // the same for HTTP
  bool colours = false;           // stdout takes them
};

// Options with which the command line's verbs reach the server's best address. They are empty for
// the default address, else " --server HOST:PORT", with " --tls" if all have TLS. A wildcard
// address becomes the loopback address of its family. Pure.
std::string ClientOptions(const ReadyTableFacts& facts);

inline constexpr size_t kMostExamples = 3;

// Returns the table, and kMostExamples lines at most to copy and try: requests to models, a call
// over HTTP, `ps`. A model has a line if it is ready and the command line can make its inputs up.
// Reads the models' atomics and what `workers` tells, and changes nothing. Called by main, after
// the models are settled.
std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers);

}  // namespace mpsd
