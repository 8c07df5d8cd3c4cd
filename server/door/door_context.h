// DoorContext: shared by all requests of one thread of the HTTP door.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/limits.h"
#include "server/access/method_access.h"
#include "server/bodies/grpc/status_map.h"
#include "server/bodies/inflate/inflate_bounds.h"
#include "server/exchange/infer_exchange.h"
#include "server/http/calls/open_calls.h"

namespace mpsd {

class HealthSource;
class HttpGate;
class LoadSampler;
class MethodTable;
class MethodWatchers;
class MetricsPage;
class ModelDirectory;
class StatusPage;
class TaskThreads;
class UnreadCopies;

// The daemon makes one for each HttpDoor, with everything except the thread, the front page and the
// watchers, which HttpDoor fills in. A door's tasks point to its copy. Constant once requests
// arrive. The referents outlive the HTTP server. Thread-safe.
//
//   exchange, open_infer_calls, unread, inflaters,   the tasks that infer
//     json_bytes, default_deadline_ns
//   open_stream_calls                                GrpcStreamTask, beside those that infer
//   watchers                                         GrpcLastingTask
//   methods, open_other_calls                        MethodTask; TokenizeTask the calls alone
//   page, load, health, origins                      HttpDoor itself, without a task
//   front_page                                       HttpDoor and MethodTask
//   models, gate, style, the rest                    several of these
//
// DoorBounds has the ledgers and bounds. The config at the start gives the numbers.
// A reload changes the referents' contents (the gate's rules, the models), but none of these
// fields.
//
// Only `inflaters` may be null: limits.compressed_requests is off then, and a compressed body is
// answered with 415.
struct DoorContext {
  ExchangeContext exchange;  // its thread is the connection's
  const ModelDirectory* models = nullptr;
  const MethodTable* methods = nullptr;
  const HttpGate* gate = nullptr;
  OpenCalls* open_infer_calls = nullptr;
  OpenCalls* open_stream_calls = nullptr;
  OpenCalls* open_other_calls = nullptr;
  UnreadCopies* unread = nullptr;
  TaskThreads* inflaters = nullptr;  // null: compressed bodies are refused
  InflateBounds inflate_bounds;
  const MetricsPage* page = nullptr;
  LoadSampler* load = nullptr;  // null: no load reports
  HealthSource* health = nullptr;
  const StatusPage* front_page = nullptr;
  MethodWatchers* watchers = nullptr;
  uint64_t message_bytes = 0;  // limits.message: the largest request, and JSON of an answer
  uint64_t json_bytes = 0;     // limits.http_json: the largest JSON of a request
  size_t text_rows = 0;        // limits.texts: for a text route's request
  uint64_t text_tokens = 0;    // limits.text_tokens: for a text route's request
  int64_t default_deadline_ns = kDefaultTimeoutNs;  // for requests without one; 0: none
  std::vector<std::string> origins;                 // sites whose pages may call, see PageOrigin
  std::vector<std::string> hosts;                   // names of this server, see HasForeignHost()
  StatusStyle style = StatusStyle::kOwn;
};

}  // namespace mpsd
