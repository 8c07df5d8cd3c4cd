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
#include "server/entry/open_calls.h"
#include "server/exchange/request_ending.h"
#include "server/inflate/inflater.h"
#include "server/inflate/inflater_threads.h"
#include "server/listen/accept_guard.h"
#include "server/listen/certificate_source.h"
#include "server/listen/control_listener.h"
#include "server/regions/client_regions.h"
#include "server/wire/status_map.h"

namespace mpsd {

// The config's options for the door. Times of 0 keep gRPC's own.
struct GrpcServerOptions {
  std::vector<std::string> addresses;  // "127.0.0.1:8001", "unix:/run/mpsd/mpsd.sock"
  uint64_t message_bytes = 0;
  uint64_t buffered_bytes = 0;  // for all arriving messages; as much again for inflated ones
  bool compressed_requests = true;
  uint64_t connection_pin_bytes = kDefaultConnectionPinBytes;  // see PinLedger
  uint64_t unread_copy_bytes = kDefaultUnreadCopyBytes;        // see PinLedger
  uint32_t queue_threads = 1;
  uint32_t connections = kDefaultConnections;
  uint32_t streams = 0;                // calls on a connection
  uint32_t resets = 10'000;            // calls that a connection may cancel in a second
  uint32_t calls = kDefaultOpenCalls;  // for each kind, see OpenCalls
  uint64_t metadata_bytes = 0;         // for a call
  int64_t default_deadline_ns = kDefaultTimeoutNs;  // for a call without one; 0: none
  int64_t keepalive_ns = 0;                         // 0: never
  int64_t handshake_ns = 0;                         // 0: gRPC's own
  int64_t connection_idle_ns = 0;
  int64_t connection_age_ns = 0;
  StatusStyle style = StatusStyle::kOwn;
  std::vector<std::string> tls_addresses;           // "0.0.0.0:8443"
  std::shared_ptr<CertificateSource> certificates;  // REQUIRES: not null if TLS is used
  bool client_must_show_certificate = false;
  std::string control_address;  // "unix:/run/mpsd/control.sock"; empty: none
  RequestObservers observers;
};

// The gRPC door: listeners, certificates, the limit of connections, and the queue threads with
// their armed calls. It makes what calls share (the ledger of pinned answers, the inflater, the
// gate) and gives it to them in their contexts. InferCall, StreamCall and GenericCall do the rest.
//
// Stop() works from the outside in, so that everything open always has a thread:
//
//   the control socket closes → streams end → gRPC takes no call, and cancels after the grace
//     → every call, armed or open, is back and deleted → the queues shut down → threads are joined
//
// Owned by the daemon, which calls it from its main thread. Thread-compatible.
class GrpcServer {
 public:
  // The referents outlive the server.
  GrpcServer(InferHandler* handler, const MethodTable* methods, CompletionSource* completions,
             ClientRegions* regions, ServerMetrics* metrics, Logger* logger, const Clock* clock,
             const Gate* gate, RefusalLog* refusals);
  ~GrpcServer();

  // Binds all addresses, starts the threads and takes calls. Called once. UNAVAILABLE names an
  // address that cannot be bound; the server is then as if never started.
  absl::Status Start(const GrpcServerOptions& options);

  // The addresses in use, with the ports chosen for port 0: without TLS, with TLS, then the control
  // socket.
  const std::vector<std::string>& bound() const { return bound_; }

  // Number of connections. REQUIRES: the server was started. Thread-safe.
  uint32_t connection_count() const;

  // Bytes of copied large answers that clients have not read. REQUIRES: the server was started.
  uint64_t unread_copy_bytes() const;

  // Bytes of inflated requests that are still held. REQUIRES: the server was started.
  uint64_t inflated_bytes() const;

  // Ledgers of open calls, shared with other doors: a call counts the same at every door. REQUIRES:
  // the server was started.
  OpenCalls* open_infer_calls() { return open_infer_calls_.get(); }
  OpenCalls* open_stream_calls() { return open_stream_calls_.get(); }
  OpenCalls* open_other_calls() { return open_other_calls_.get(); }

  // Copies of unread answers, shared with other doors. REQUIRES: as above.
  UnreadCopies* unread_copies() { return pins_->copies(); }

  // The threads that inflate, and their bounds, shared with other doors. REQUIRES: as above.
  InflaterThreads* inflaters() { return inflater_threads_.get(); }
  const InflateBounds& inflate_bounds() const { return inflater_->bounds(); }

  // Stops taking calls, ends streams, cancels open calls after `grace_ns`, and cuts connections
  // whose client does not even read that. Blocks until all calls are gone and the threads are
  // joined: requests inside must end meanwhile, as cancelled ones do. Idempotent.
  void Stop(int64_t grace_ns);

 private:
  bool CutReader(const std::string& peer);
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
  // Set when the server starts. One for each kind, so that lasting streams and watches keep no
  // other call out.
  std::unique_ptr<OpenCalls> open_infer_calls_;
  std::unique_ptr<OpenCalls> open_stream_calls_;
  std::unique_ptr<OpenCalls> open_other_calls_;
  InferService infer_service_;
  grpc::AsyncGenericService generic_service_;
  // Kept alive for gRPC, which asks these for certificates while it listens.
  std::vector<std::shared_ptr<grpc::ServerCredentials>> credentials_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ControlListener> control_;
  std::vector<std::unique_ptr<QueueThread>> threads_;
  std::vector<std::string> bound_;
  ConnectionBounds bounds_;
  std::shared_ptr<PinLedger> pins_;     // set when the server is started
  std::unique_ptr<Inflater> inflater_;  // set when the server is started
  std::unique_ptr<InflaterThreads> inflater_threads_;
};

}  // namespace mpsd
