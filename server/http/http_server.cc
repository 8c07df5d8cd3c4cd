#include "server/http/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "proto/base/check.h"
#include "proto/base/peer_user.h"
#include "server/http/connections/address_probe.h"
#include "server/http/connections/socket_names.h"
#include "server/http/http_thread.h"
#include "server/http/listening_socket.h"
#include "server/http/socket_options.h"
#include "server/http/tls_context.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;

// So that a burst leaves time for the thread's other work.
constexpr int kAcceptsAtOnce = 16;
constexpr auto kStopLook = std::chrono::milliseconds(1);
// Without a free descriptor, connections wait in the kernel's queue.
constexpr auto kDescriptorLook = std::chrono::milliseconds(20);

absl::Status CannotListen(const HttpAddress& address, const absl::Status& why) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address.address, " (", address.key, "): ", why.message()));
}

using HttpThreads = std::vector<std::unique_ptr<HttpThread>>;

uint32_t ConnectionCount(const HttpThreads& threads) {
  uint32_t count = 0;
  for (const std::unique_ptr<HttpThread>& thread : threads) count += thread->connection_count();
  return count;
}

std::string PeerOf(int fd, int family) { return family == AF_UNIX ? "unix:" : PeerName(fd); }

// The user is this process's, or root, as the kernel says.
bool IsOfThisUser(int fd, Logger* logger) {
  const absl::StatusOr<uint32_t> user = platform::PeerUser(fd);
  const bool let_in = user.ok() && (*user == geteuid() || *user == 0);
  if (!let_in && logger != nullptr) {
    logger->Log(LogLevel::kWarn, "control_connection_refused",
                {{"user", user.ok() ? static_cast<int64_t>(*user) : -1}});
  }
  return let_in;
}

}  // namespace

struct HttpServerGroup {
  const HttpGroup* options = nullptr;
  ConnectionShares shares;
  ConnectionShares::Bounds bounds;
};

// The referents outlive the listener.
struct HttpListenerContext {
  HttpServerGroup* group = nullptr;
  std::shared_ptr<TlsContexts> tls;  // null: no TLS
  std::vector<HttpThread*> threads;
  const HttpServerOptions* options = nullptr;
  const Clock* clock = nullptr;
  bool is_control = false;
};

// Accepts on the first of its threads, and deals the connections out to all. A thread starts with
// its first connection.
class HttpListener {
 public:
  HttpListener(std::string asked, ListeningSocket socket, HttpListenerContext context)
      : asked_(std::move(asked)),
        socket_(std::move(socket)),
        context_(std::move(context)),
        waiter_(*thread()->io(), socket_.fd.get()),
        descriptor_look_(*thread()->io()) {}

  ~HttpListener() { waiter_.release(); }

  HttpThread* thread() const { return context_.threads.front(); }

  // On thread().
  void Await() {
    waiter_.async_wait(asio::posix::descriptor_base::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (!error && !closed_) Accept();
                       });
  }

  const std::string& asked() const { return asked_; }
  const ListeningSocket& socket() const { return socket_; }

  // On thread(). Pending waits end with an error. A Unix socket's path goes, unless another process
  // listens there.
  void Close(bool keeps_path) {
    closed_ = true;
    boost::system::error_code ignored;
    waiter_.cancel(ignored);
    descriptor_look_.cancel();
    absl::string_view path = socket_.address;
    if (!keeps_path && absl::ConsumePrefix(&path, "unix:")) unlink(std::string(path).c_str());
  }

 private:
  void Accept() {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
      bool needs_descriptor = false;
      UniqueFd fd = AcceptConnection(socket_.fd.get(), &needs_descriptor);
      if (needs_descriptor) return AwaitDescriptor();
      if (!fd.valid()) break;
      Take(std::move(fd));
    }
    Await();
  }

  // The socket stays ready to read: waiting for that would spin.
  void AwaitDescriptor() {
    descriptor_look_.expires_after(kDescriptorLook);
    descriptor_look_.async_wait([this](const boost::system::error_code& error) {
      if (!error && !closed_) Accept();
    });
  }

  void Take(UniqueFd fd) {
    if (context_.is_control && !IsOfThisUser(fd.get(), context_.options->logger)) return;
    std::shared_ptr<asio::ssl::context> tls;
    if (context_.tls != nullptr) {
      tls = context_.tls->Next();
      if (tls == nullptr) return;
    }
    HttpServerGroup& group = *context_.group;
    const ConnectionShares::Newcomer newcomer{socket_.fd.get(), HostOf(fd.get()),
                                              context_.clock->NowNs(),
                                              /*begins_handshake=*/tls != nullptr};
    ConnectionClient client;
    client.use = group.shares.Enter(newcomer, group.bounds);
    if (client.use == nullptr) return;
    SetSocketOptions(fd.get(), socket_.family, context_.options->keepalive_ns);
    client.peer = PeerOf(fd.get(), socket_.family);
    client.group = group.options;
    client.by_control_socket = context_.is_control;
    NextThread()->Add(fd.Release(), socket_.family, std::move(tls), std::move(client));
  }

  // The first with the fewest connections, so that few clients keep few threads awake.
  HttpThread* NextThread() const {
    HttpThread* const next = *absl::c_min_element(
        context_.threads,
        [](const auto* a, const auto* b) { return a->connection_count() < b->connection_count(); });
    return next->Start() ? next : thread();
  }

  const std::string asked_;
  const ListeningSocket socket_;
  const HttpListenerContext context_;
  asio::posix::stream_descriptor waiter_;  // borrows the descriptor
  asio::steady_timer descriptor_look_;
  bool closed_ = false;
};

struct HttpServer::Impl {
  std::vector<HttpThread*> ThreadsOf(const HttpAddress& address) {
    if (address.has_own_thread) return {threads[options.threads + own_threads++].get()};
    std::vector<HttpThread*> shared;
    for (uint32_t i = 0; i < options.threads; ++i) shared.push_back(threads[i].get());
    return shared;
  }

  absl::StatusOr<std::vector<ListeningSocket>> SocketsOf(const HttpAddress& address) const {
    if (options.inherited != nullptr) {
      std::vector<ListeningSocket> taken = options.inherited->Take(address.address);
      if (!taken.empty()) return taken;
    }
    if (absl::Status free = ProbeAddress(address.address); !free.ok()) return free;
    const bool is_control = address.kind == HttpAddress::Kind::kControl;
    return is_control ? OpenControlSocket(address.address) : OpenListeningSockets(address.address);
  }

  absl::Status Listen(const HttpAddress& address, HttpServerGroup* group,
                      const std::shared_ptr<TlsContexts>& tls, std::vector<std::string>* places) {
    const bool is_control = address.kind == HttpAddress::Kind::kControl;
    absl::StatusOr<std::vector<ListeningSocket>> sockets = SocketsOf(address);
    if (!sockets.ok()) return CannotListen(address, sockets.status());
    places->push_back(sockets->front().address);
    HttpListenerContext context{group, nullptr, ThreadsOf(address), &options, clock, is_control};
    if (address.kind == HttpAddress::Kind::kTls) context.tls = tls;
    for (ListeningSocket& socket : *sockets) {
      listeners.push_back(
          std::make_unique<HttpListener>(address.address, std::move(socket), context));
    }
    return absl::OkStatus();
  }

  absl::Status ListenOnAll() {
    const auto tls =
        std::make_shared<TlsContexts>(options.certificates, options.client_must_show_certificate);
    for (const HttpGroup& group_options : options.groups) {
      groups.push_back(std::make_unique<HttpServerGroup>());
      HttpServerGroup* const group = groups.back().get();
      group->options = &group_options;
      const size_t before = listeners.size();
      std::vector<std::string>& places = bound.emplace_back();
      for (const HttpAddress& address : group_options.addresses) {
        MPSD_CHECK(address.kind != HttpAddress::Kind::kTls || options.certificates != nullptr);
        absl::Status status = Listen(address, group, tls, &places);
        if (!status.ok()) return status;
      }
      const uint32_t connections = group_options.connections;
      group->bounds = {connections,
                       ConnectionShares::OfListener(connections, listeners.size() - before),
                       metrics, options.logger};
    }
    if (options.inherited != nullptr) options.inherited->CloseRest();
    return absl::OkStatus();
  }

  uint32_t ThreadCount() const {
    uint32_t count = options.threads;
    for (const HttpGroup& group : options.groups) {
      for (const HttpAddress& address : group.addresses) count += address.has_own_thread ? 1 : 0;
    }
    return count;
  }

  // Returns when the listener is closed.
  static void Close(HttpListener* listener, bool keeps_path) {
    absl::Notification done;
    asio::post(*listener->thread()->io(), [&, keeps_path] {
      listener->Close(keeps_path);
      done.Notify();
    });
    done.WaitForNotification();
  }

  // REQUIRES: no connection is left.
  void EndThreads() {
    for (const std::unique_ptr<HttpThread>& thread : threads) thread->Shutdown();
    for (const std::unique_ptr<HttpThread>& thread : threads) thread->Join();
    listeners.clear();
    threads.clear();
  }

  const HandlerMaker make_handler;
  CompletionSource* const completions;
  ServerMetrics* const metrics;
  const Clock* const clock;

  HttpServerOptions options;
  std::vector<std::unique_ptr<HttpServerGroup>> groups;
  std::unique_ptr<HeldBytes> bodies;
  std::vector<std::unique_ptr<HttpThread>> threads;
  uint32_t own_threads = 0;
  std::vector<std::unique_ptr<HttpListener>> listeners;
  std::vector<std::vector<std::string>> bound;  // by group
  bool runs = false;
  bool accepts = true;
};

HttpServer::HttpServer(HandlerMaker make_handler, CompletionSource* completions,
                       ServerMetrics* metrics, const Clock* clock)
    : impl_(new Impl{std::move(make_handler), completions, metrics, clock}) {}

HttpServer::~HttpServer() { Stop(0); }

const std::vector<std::string>& HttpServer::bound(size_t group) const {
  return impl_->bound[group];
}

uint32_t HttpServer::connection_count(size_t group) const {
  return group < impl_->groups.size() ? impl_->groups[group]->shares.count() : 0;
}

uint64_t HttpServer::body_bytes() const {
  return impl_->bodies == nullptr ? 0 : impl_->bodies->taken_bytes();
}

absl::Status HttpServer::Start(const HttpServerOptions& options) {
  Impl& impl = *impl_;
  impl.options = options;
  impl.bodies = std::make_unique<HeldBytes>(
      options.buffered_bytes, std::min(options.message_bytes, options.buffered_bytes));
  const HttpThread::Services services{&impl.options, impl.completions, impl.bodies.get(),
                                      impl.metrics, impl.clock};
  for (uint32_t i = 0; i < impl.ThreadCount(); ++i) {
    impl.threads.push_back(
        std::make_unique<HttpThread>(static_cast<int>(i), services, impl.make_handler));
    if (absl::Status status = impl.threads.back()->Open(); !status.ok()) return status;
  }
  if (absl::Status status = impl.ListenOnAll(); !status.ok()) return status;
  if (!absl::c_all_of(impl.listeners, [](const auto& each) { return each->thread()->Start(); })) {
    impl.EndThreads();
    return absl::ResourceExhaustedError("the system has no thread left for connections");
  }
  impl.runs = true;
  for (const std::unique_ptr<HttpListener>& listener : impl.listeners) {
    asio::post(*listener->thread()->io(), [&listener] { listener->Await(); });
  }
  return absl::OkStatus();
}

void HttpServer::CutReader(const std::string& peer) {
  if (absl::StartsWith(peer, "unix:")) return;
  for (const std::unique_ptr<HttpThread>& thread : impl_->threads) thread->CutConnectionOf(peer);
  impl_->metrics->unread_connections.fetch_add(1, std::memory_order_relaxed);
  if (impl_->options.logger == nullptr) return;
  impl_->options.logger->Log(LogLevel::kWarn, "connection_cut",
                             {{"peer", peer}, {"too_many", "unread answers"}});
}

void HttpServer::StopKeeping() {
  if (!impl_->runs) return;
  for (const std::unique_ptr<HttpThread>& thread : impl_->threads) thread->StopKeeping();
}

std::vector<HttpServer::Listener> HttpServer::listeners() const {
  std::vector<Listener> listeners;
  for (const std::unique_ptr<HttpListener>& listener : impl_->listeners) {
    listeners.push_back({listener->asked(), &listener->socket()});
  }
  return listeners;
}

// The listeners stay until the threads end, which may still look at them.
void HttpServer::StopAccepting() {
  if (!impl_->runs) return;
  for (const auto& listener : impl_->listeners) impl_->Close(listener.get(), /*keeps_path=*/true);
  impl_->accepts = false;
}

void HttpServer::Stop(int64_t grace_ns) {
  Impl& impl = *impl_;
  if (!std::exchange(impl.runs, false)) return;
  for (const auto& listener : impl.listeners) impl.Close(listener.get(), !impl.accepts);
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->EndSoon();
  const int64_t until_ns = impl.clock->NowNs() + grace_ns;
  while (ConnectionCount(impl.threads) > 0 && impl.clock->NowNs() < until_ns) {
    std::this_thread::sleep_for(kStopLook);
  }
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->Cut();
  while (ConnectionCount(impl.threads) > 0) std::this_thread::sleep_for(kStopLook);
  impl.EndThreads();
}

}  // namespace mpsd
