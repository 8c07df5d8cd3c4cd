// CollectorCall: hands messages to a collector by OTLP, over HTTP or gRPC.
#pragma once

#include <curl/curl.h>

#include <string>

#include "absl/strings/string_view.h"
#include "server/telemetry/collector/collector.h"

namespace mpsd {

enum class OtlpSignal { kTraces, kMetrics };

// A call over HTTP keeps its connection for the next one. The scheme of the address decides:
//
//   http://HOST:PORT[/PATH]    POST of the message to [/PATH]/v1/traces, or /v1/metrics
//   grpc://HOST:PORT           a unary call of TraceService, or MetricsService
//
// The schemes https and grpcs have TLS, which trusts what the system trusts. No proxy and no
// redirect is followed. Owned by the daemon. Thread-compatible.
class CollectorCall final : public Collector {
 public:
  // REQUIRES: CollectorFault() finds nothing wrong with the address.
  CollectorCall(absl::string_view address, OtlpSignal signal);
  CollectorCall(const CollectorCall&) = delete;
  ~CollectorCall() override;

  absl::Status Take(const std::string& message, int64_t timeout_ns,
                    const std::atomic<bool>& cut) override;

 private:
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  absl::Status Judge(CURLcode result) const;

  const bool is_grpc_;
  CURL* const handle_;
  curl_slist* headers_ = nullptr;
  const std::atomic<bool>* cut_ = nullptr;  // during a call
  int grpc_status_ = -1;                    // the last call's; -1: there was none
};

}  // namespace mpsd
