// GrpcServer: the listening server with its queue threads.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/limits.h"
#include "server/accept/call_gate.h"
#include "server/accept/infer_service.h"
#include "server/accept/open_streams.h"
#include "server/accept/queue_thread.h"
#include "server/exchange/request_ending.h"
#include "server/inflate/inflater.h"
#include "server/inflate/inflater_threads.h"
#include "server/listen/certificate_source.h"
#include "server/listen/connection_limit.h"
#include "server/listen/control_listener.h"
#include "server/regions/client_regions.h"
#include "server/wire/status_map.h"

namespace mpsd {

struct GrpcServerOptions {
  std::vector<std::string> addresses;  // "127.0.0.1:8001", "unix:/run/mpsd/mpsd.sock"
  uint64_t message_bytes = 0;
  uint64_t buffered_bytes = 0;  // of messages that arrive, all together; again of inflated ones
  bool compressed_requests = true;
  uint64_t connection_pin_bytes = kDefaultConnectionPinBytes;  // see PinLedger
  uint64_t unread_copy_bytes = kDefaultUnreadCopyBytes;        // likewise
  uint32_t queue_threads = 1;
  uint32_t connections = kDefaultConnections;
  uint32_t streams = 0;         // calls of a connection
  uint64_t metadata_bytes = 0;  // of a call
  int64_t keepalive_ns = 0;     // 0: never
  int64_t handshake_ns = 0;     // 0: gRPC's own
  int64_t connection_idle_ns = 0;
  int64_t connection_age_ns = 0;
  StatusStyle style = StatusStyle::kOwn;
  std::vector<std::string> tls_addresses;           // "0.0.0.0:8443"
  std::shared_ptr<CertificateSource> certificates;  // REQUIRES: there, where tls_addresses are
  bool client_must_show_certificate = false;
  std::string control_address;  // "unix:/run/mpsd/control.sock"; empty: none
  RequestObservers observers;
};

// Thread-compatible. Owned by the daemon, which calls it from its main thread.
class GrpcServer {
 public:
  // The referents outlive the server.
  GrpcServer(InferHandler* handler, const MethodTable* methods, CompletionSource* completions,
             ClientRegions* regions, ServerMetrics* metrics, Logger* logger, const Clock* clock,
             const Gate* gate, RefusalLog* refusals);
  ~GrpcServer();

  // Binds all addresses and takes calls. UNAVAILABLE naming the address that cannot be bound.
  absl::Status Start(const GrpcServerOptions& options);

  // The addresses in use, with the ports that were chosen for port 0: those without TLS, those with
  // it, the control socket.
  const std::vector<std::string>& bound() const { return bound_; }

  // How many connections there are. Thread-safe between Start() and Stop().
  uint32_t connection_count() const { return limit_->Count(); }

  // Of large answers, copied, that clients have not read yet.
  uint64_t unread_copy_bytes() const { return pins_->copies()->taken_bytes(); }

  // Of requests that came compressed and were inflated, as long as they are held.
  uint64_t inflated_bytes() const { return inflater_->held_bytes(); }

  // Ends: calls that are still open after `grace_ns` are cancelled, and connections whose peer does
  // not even read that are cut. Every request's reply must have been given before. Idempotent.
  void Stop(int64_t grace_ns);

 private:
  void MakeThreads(const GrpcServerOptions& options, grpc::ServerBuilder* builder);

  InferHandler* const handler_;
  const MethodTable* const methods_;
  CompletionSource* const completions_;
  ClientRegions* const regions_;
  ServerMetrics* const metrics_;
  Logger* const logger_;
  const Clock* const clock_;
  const CallGate gate_;

  std::atomic<bool> stopping_{false};
  std::atomic<int> live_calls_{0};
  OpenStreams streams_;
  InferService infer_service_;
  grpc::AsyncGenericService generic_service_;
  // gRPC keeps what these are made of, not them, and asks them for certificates as long as it
  // listens.
  std::vector<std::shared_ptr<grpc::ServerCredentials>> credentials_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControlListener> control_;
  std::vector<std::unique_ptr<QueueThread>> threads_;
  std::vector<std::string> bound_;
  std::unique_ptr<ConnectionLimit> limit_;
  std::shared_ptr<PinLedger> pins_;     // there once it was started
  std::unique_ptr<Inflater> inflater_;  // likewise
  std::unique_ptr<InflaterThreads> inflater_threads_;
};

}  // namespace mpsd
