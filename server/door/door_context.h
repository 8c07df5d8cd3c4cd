// DoorContext: what the requests of one door share.
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

// The daemon makes one for each HttpDoor, which fills in the thread, the front page and the
// watchers. Constant once requests arrive: a reload changes only the referents' contents. The
// referents outlive the HTTP server. Thread-safe.
struct DoorContext {
  ExchangeContext exchange;  // its thread is the connection's
  const ModelDirectory* models = nullptr;
  const MethodTable* methods = nullptr;
  const HttpGate* gate = nullptr;
  OpenCalls* open_infer_calls = nullptr;
  OpenCalls* open_stream_calls = nullptr;
  OpenCalls* open_other_calls = nullptr;
  UnreadCopies* unread = nullptr;
  TaskThreads* inflaters = nullptr;  // null: compressed bodies are refused with 415
  InflateBounds inflate_bounds;
  const MetricsPage* page = nullptr;
  LoadSampler* load = nullptr;  // null: no load reports
  HealthSource* health = nullptr;
  const StatusPage* front_page = nullptr;
  MethodWatchers* watchers = nullptr;
  uint64_t message_bytes = 0;  // limits.message: a request, and JSON of an answer
  uint64_t json_bytes = 0;     // limits.http_json: JSON of a request
  size_t text_rows = 0;        // limits.texts, for a text route's request
  uint64_t text_tokens = 0;    // limits.text_tokens, likewise
  int64_t default_deadline_ns = kDefaultTimeoutNs;  // without a client's own; 0: none
  std::vector<std::string> origins;                 // sites whose pages may call, see PageOrigin
  std::vector<std::string> hosts;                   // this server's names, see HasForeignHost()
  StatusStyle style = StatusStyle::kOwn;
};

}  // namespace mpsd
