#include "server/accept/grpc_server.h"

#include <grpcpp/resource_quota.h>

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/accept/library_log.h"
#include "server/accept/polling_threads.h"
#include "server/listen/address_probe.h"
#include "server/listen/connection_cutter.h"
#include "server/listen/open_sockets.h"
#include "server/listen/server_credentials.h"

namespace mpsd {
namespace {

constexpr int64_t kKeepaliveTimeoutNs = 20 * kNsPerSecond;
constexpr int64_t kAgeGraceNs = 60 * kNsPerSecond;
constexpr int64_t kMinPingNs = 10 * kNsPerSecond;
// How long gRPC may take to cancel the remaining calls before their connections are cut.
constexpr int64_t kCancelNs = 200 * kNsPerMs;

std::string WithPort(const std::string& address, int port) {
  if (absl::StartsWith(address, "unix:")) return address;
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

// A time of 0 keeps gRPC's default: never, except for the handshake.
void AddTime(const char* name, int64_t ns, grpc::ServerBuilder* builder) {
  if (ns > 0) builder->AddChannelArgument(name, static_cast<int>((ns - 1) / kNsPerMs + 1));
}

void AddTimes(const GrpcServerOptions& options, grpc::ServerBuilder* builder) {
  AddTime(GRPC_ARG_KEEPALIVE_TIME_MS, options.keepalive_ns, builder);
  AddTime(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutNs, builder);
  AddTime(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, options.handshake_ns, builder);
  AddTime(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options.connection_idle_ns, builder);
  AddTime(GRPC_ARG_MAX_CONNECTION_AGE_MS, options.connection_age_ns, builder);
  AddTime(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kAgeGraceNs, builder);
  // Clients may send pings every ten seconds, with or without a call.
  AddTime(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPingNs, builder);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

void Configure(const GrpcServerOptions& options, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes));
  builder->SetMaxSendMessageSize(-1);
  // A second daemon must not bind the same port silently.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options.streams));
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(options.metadata_bytes));
  // A gRPC that knows this bound applies it to each listener. On Linux the accept guard comes
  // first.
  builder->AddChannelArgument("grpc.max_allowed_incoming_connections",
                              static_cast<int>(options.connections));
  AddTimes(options, builder);
  // While gRPC would inflate a small message to any size before it checks the limit, Inflater does
  // not.
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, options.compressed_requests);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, options.compressed_requests);
  grpc::ResourceQuota quota("mpsd");
  quota.Resize(options.buffered_bytes);
  builder->SetResourceQuota(quota);
}

// Far above gRPC's limit for a call, so that gRPC can tell a client that it sent too much.
uint64_t HeaderBlockBytes(const GrpcServerOptions& options) {
  return (64 << 10) + 4 * options.metadata_bytes;
}

struct Listening {
  const char* key;  // a key of the config
  std::string address;
  std::shared_ptr<grpc::ServerCredentials> credentials;
};

std::vector<Listening> Listenings(const GrpcServerOptions& options) {
  std::vector<Listening> listening;
  for (const std::string& address : options.addresses) {
    listening.push_back({"listen.grpc", address, grpc::InsecureServerCredentials()});
  }
  for (const std::string& address : options.tls_addresses) {
    listening.push_back(
        {"listen.tls.grpc", address,
         TlsCredentials(options.certificates, options.client_must_show_certificate)});
  }
  return listening;
}

absl::Status CannotListen(const Listening& listening, absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", listening.address, " (", listening.key, "): ", why));
}

absl::Status CheckFree(const std::vector<Listening>& all) {
  for (const Listening& listening : all) {
    const absl::Status free = ProbeAddress(listening.address);
    if (!free.ok()) return CannotListen(listening, free.message());
  }
  return absl::OkStatus();
}

// Through this acceptor gRPC gets the control socket's connections.
std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> AddAcceptor(
    grpc::ServerBuilder* builder) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  return builder->experimental().AddExternalConnectionAcceptor(Type::FROM_FD,
                                                               ControlSocketCredentials());
}

}  // namespace

GrpcServer::GrpcServer(InferHandler* handler, const MethodTable* methods,
                       CompletionSource* completions, ClientRegions* regions,
                       ServerMetrics* metrics, Logger* logger, const Clock* clock, const Gate* gate,
                       RefusalLog* refusals)
    : handler_(handler),
      methods_(methods),
      completions_(completions),
      regions_(regions),
      metrics_(metrics),
      logger_(logger),
      clock_(clock),
      gate_(gate, refusals) {}

GrpcServer::~GrpcServer() { Stop(0); }

void GrpcServer::MakeThreads(const GrpcServerOptions& options, grpc::ServerBuilder* builder) {
  pins_ = std::make_shared<PinLedger>(options.connection_pin_bytes, options.unread_copy_bytes,
                                      [this](const std::string& peer) { return CutReader(peer); });
  open_infer_calls_ = std::make_unique<OpenCalls>(options.calls, &metrics_->refused_calls);
  open_stream_calls_ = std::make_unique<OpenCalls>(options.calls, &metrics_->refused_calls);
  open_other_calls_ = std::make_unique<OpenCalls>(options.calls, &metrics_->refused_calls);
  inflater_ = std::make_unique<Inflater>(options.message_bytes, options.buffered_bytes);
  inflater_threads_ = std::make_unique<InflaterThreads>(inflater_.get());
  InferCallContext infer;
  infer.exchange = {handler_, metrics_, clock_, regions_, nullptr, options.observers};
  infer.service = &infer_service_;
  infer.streams = &streams_;
  infer.stopping = &stopping_;
  infer.message_bytes = options.message_bytes;
  infer.default_deadline_ns = options.default_deadline_ns;
  infer.style = options.style;
  infer.live_calls = &live_calls_;
  infer.open_infer_calls = open_infer_calls_.get();
  infer.open_stream_calls = open_stream_calls_.get();
  infer.pins = pins_;
  infer.gate = &gate_;
  infer.inflaters = inflater_threads_.get();
  GenericCallContext generic;
  generic.service = &generic_service_;
  generic.methods = methods_;
  generic.metrics = metrics_;
  generic.streams = &streams_;
  generic.stopping = &stopping_;
  generic.live_calls = &live_calls_;
  generic.open_calls = open_other_calls_.get();
  generic.gate = &gate_;
  generic.inflaters = inflater_threads_.get();
  for (uint32_t i = 0; i < options.queue_threads; ++i) {
    threads_.push_back(
        std::make_unique<QueueThread>(builder->AddCompletionQueue(), infer, generic, completions_));
  }
}

bool GrpcServer::CutReader(const std::string& peer) {
  if (!CutConnectionOf(peer)) return false;
  metrics_->unread_connections.fetch_add(1, std::memory_order_relaxed);
  logger_->Log(LogLevel::kWarn, "connection_cut", {{"peer", peer}, {"too_many", "unread answers"}});
  return true;
}

absl::Status GrpcServer::Start(const GrpcServerOptions& options) {
  if (absl::Status status = GuardAccept(); !status.ok()) return status;
  if (!options.control_address.empty()) {
    auto control = ControlListener::Open(options.control_address, logger_);
    if (!control.ok()) return control.status();
    control_ = *std::move(control);
  }
  SilenceLibraries();
  grpc::ServerBuilder builder;
  Configure(options, &builder);
  if (options.queue_threads > 1) KeepOnPollingThreads();
  const std::vector<Listening> listening = Listenings(options);
  if (absl::Status free = CheckFree(listening); !free.ok()) return free;
  std::vector<int> ports(listening.size(), 0);
  for (size_t i = 0; i < listening.size(); ++i) {
    credentials_.push_back(listening[i].credentials);
    builder.AddListeningPort(listening[i].address, listening[i].credentials, &ports[i]);
  }
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  if (control_ != nullptr) acceptor = AddAcceptor(&builder);
  builder.RegisterService(&infer_service_);
  builder.RegisterAsyncGenericService(&generic_service_);
  MakeThreads(options, &builder);
  server_ = builder.BuildAndStart();
  for (size_t i = 0; i < ports.size(); ++i) {
    const bool last = i + 1 == ports.size();
    if (ports[i] != 0 && (server_ != nullptr || !last)) continue;
    for (const std::unique_ptr<QueueThread>& thread : threads_) thread->Shutdown();
    threads_.clear();
    return CannotListen(listening[i], "it is in use, or not ours");
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    bound_.push_back(WithPort(listening[i].address, ports[i]));
  }
  bounds_ = {options.connections,
             ConnectionShares::OfListener(options.connections, ports.size()),
             {HeaderBlockBytes(options), options.resets},
             metrics_,
             logger_};
  BoundConnections(&bounds_);
  inflater_threads_->Start(options.queue_threads);
  for (size_t i = 0; i < threads_.size(); ++i) threads_[i]->Start(static_cast<int>(i));
  if (control_ == nullptr) return absl::OkStatus();
  bound_.push_back(options.control_address);
  control_->Start(std::move(acceptor));
  return absl::OkStatus();
}

uint32_t GrpcServer::connection_count() const {
  MPSD_CHECK(!bound_.empty());
  return static_cast<uint32_t>(ConnectionsOn(bound_).size());
}

uint64_t GrpcServer::unread_copy_bytes() const {
  MPSD_CHECK(pins_ != nullptr);
  return pins_->copies()->taken_bytes();
}

uint64_t GrpcServer::inflated_bytes() const {
  MPSD_CHECK(inflater_ != nullptr);
  return inflater_->held_bytes();
}

void GrpcServer::Stop(int64_t grace_ns) {
  if (server_ == nullptr) return;
  stopping_ = true;
  control_.reset();
  streams_.EndAll();
  // Armed calls end at once. The remaining ones are open, and none is of another transport.
  const ConnectionCutter cutter(bound_, grace_ns + kCancelNs,
                                [this] { return live_calls_.load(std::memory_order_acquire) > 0; });
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::microseconds(grace_ns / 1000));
  // A queue that was shut down takes no operation. So the queues go on until every call, armed or
  // open, has learned from Arrived(false) that no further call comes, and is deleted.
  while (live_calls_.load(std::memory_order_acquire) > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const std::unique_ptr<QueueThread>& thread : threads_) thread->Shutdown();
  for (const std::unique_ptr<QueueThread>& thread : threads_) thread->Join();
  threads_.clear();
  server_.reset();
  BoundConnections(nullptr);
}

}  // namespace mpsd
