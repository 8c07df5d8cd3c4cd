#include "server/http/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "proto/base/check.h"
#include "server/http/http_thread.h"
#include "server/http/listening_socket.h"
#include "server/http/socket_options.h"
#include "server/http/tls_context.h"
#include "server/listen/accept_guard.h"
#include "server/listen/address_probe.h"
#include "server/listen/socket_names.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;

// A burst of connections is accepted piece by piece, between other work of the thread.
constexpr int kAcceptsAtOnce = 16;
constexpr auto kStopLook = std::chrono::milliseconds(1);
// Without a free descriptor, connections wait in the kernel's queue.
constexpr auto kDescriptorLook = std::chrono::milliseconds(20);

absl::Status CannotListen(absl::string_view key, const std::string& address,
                          const absl::Status& why) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, " (", key, "): ", why.message()));
}

using HttpThreads = std::vector<std::unique_ptr<HttpThread>>;

uint32_t ConnectionCount(const HttpThreads& threads) {
  uint32_t count = 0;
  for (const std::unique_ptr<HttpThread>& thread : threads) count += thread->connection_count();
  return count;
}

// Probes and Prometheus at the last of several addresses do not wait for JSON bodies of other
// addresses.
bool HasThreadForLast(const HttpServerOptions& options) { return options.addresses.size() > 1; }

std::string PeerOf(int fd, int family) { return family == AF_UNIX ? "unix:" : PeerName(fd); }

}  // namespace

// One listening socket. Accepts on the first of its threads, and deals the connections out to all
// of them.
class HttpListener {
 public:
  HttpListener(ListeningSocket socket, std::shared_ptr<TlsContexts> tls,
               std::vector<HttpThread*> threads, int64_t keepalive_ns, ConnectionShares* shares,
               const Clock* clock)
      : socket_(std::move(socket)),
        tls_(std::move(tls)),
        threads_(std::move(threads)),
        keepalive_ns_(keepalive_ns),
        shares_(shares),
        clock_(clock),
        waiter_(*threads_.front()->io(), socket_.fd.get()),
        descriptor_look_(*threads_.front()->io()) {}

  ~HttpListener() { waiter_.release(); }

  void Bound(const ConnectionShares::Bounds& bounds) { bounds_ = bounds; }

  HttpThread* thread() const { return threads_.front(); }

  void Await() {
    waiter_.async_wait(asio::posix::descriptor_base::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (!error && !closed_) Accept();
                       });
  }

  // On thread(). Pending waits end with an error.
  void Close() {
    closed_ = true;
    boost::system::error_code ignored;
    waiter_.cancel(ignored);
    descriptor_look_.cancel();
    absl::string_view path = socket_.address;
    if (absl::ConsumePrefix(&path, "unix:")) unlink(std::string(path).c_str());
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

  // Meanwhile the socket stays ready to read: waiting for that would spin.
  void AwaitDescriptor() {
    descriptor_look_.expires_after(kDescriptorLook);
    descriptor_look_.async_wait([this](const boost::system::error_code& error) {
      if (!error && !closed_) Accept();
    });
  }

  void Take(UniqueFd fd) {
    std::shared_ptr<asio::ssl::context> context;
    if (tls_ != nullptr) {
      context = tls_->Next();
      if (context == nullptr) return;
    }
    const ConnectionShares::Newcomer newcomer{socket_.fd.get(), HostOf(fd.get()),
                                              /*tells_calls=*/true, clock_->NowNs()};
    std::shared_ptr<ConnectionShares::Use> use = shares_->Enter(newcomer, bounds_);
    if (use == nullptr) return;
    SetSocketOptions(fd.get(), socket_.family, keepalive_ns_);
    std::string peer = PeerOf(fd.get(), socket_.family);
    HttpThread& thread = *threads_[next_++ % threads_.size()];
    thread.Add(fd.Release(), socket_.family, std::move(context), std::move(peer), std::move(use));
  }

  const ListeningSocket socket_;
  const std::shared_ptr<TlsContexts> tls_;  // null: no TLS
  const std::vector<HttpThread*> threads_;
  const int64_t keepalive_ns_;
  ConnectionShares* const shares_;
  const Clock* const clock_;
  asio::posix::stream_descriptor waiter_;  // borrows the descriptor
  asio::steady_timer descriptor_look_;
  ConnectionShares::Bounds bounds_;
  size_t next_ = 0;
  bool closed_ = false;
};

struct HttpServer::Impl {
  // The threads of an address: all of `options.threads`, or the separate one.
  std::vector<HttpThread*> ThreadsOf(bool has_its_own) const {
    std::vector<HttpThread*> chosen;
    const size_t first = has_its_own ? options.threads : 0;
    const size_t end = has_its_own ? threads.size() : options.threads;
    for (size_t i = first; i < end; ++i) chosen.push_back(threads[i].get());
    return chosen;
  }

  absl::Status Listen(absl::string_view key, const std::string& address, bool has_its_own_thread,
                      const std::shared_ptr<TlsContexts>& tls) {
    absl::Status free = ProbeAddress(address);
    if (!free.ok()) return CannotListen(key, address, free);
    absl::StatusOr<std::vector<ListeningSocket>> sockets = OpenListeningSockets(address);
    if (!sockets.ok()) return CannotListen(key, address, sockets.status());
    bound.push_back(sockets->front().address);
    for (ListeningSocket& socket : *sockets) {
      listeners.push_back(std::make_unique<HttpListener>(std::move(socket), tls,
                                                         ThreadsOf(has_its_own_thread),
                                                         options.keepalive_ns, &shares, clock));
    }
    return absl::OkStatus();
  }

  absl::Status ListenOnAll() {
    for (size_t i = 0; i < options.addresses.size(); ++i) {
      const bool is_last = HasThreadForLast(options) && i + 1 == options.addresses.size();
      absl::Status status = Listen("listen.http", options.addresses[i], is_last, nullptr);
      if (!status.ok()) return status;
    }
    if (options.tls_addresses.empty()) return absl::OkStatus();
    MPSD_CHECK(options.certificates != nullptr);
    const auto tls =
        std::make_shared<TlsContexts>(options.certificates, options.client_must_show_certificate);
    for (const std::string& address : options.tls_addresses) {
      absl::Status status = Listen("listen.tls.http", address, false, tls);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  static void Close(HttpListener* listener) {
    absl::Notification done;
    asio::post(*listener->thread()->io(), [&] {
      listener->Close();
      done.Notify();
    });
    done.WaitForNotification();
  }

  const HandlerMaker make_handler;
  CompletionSource* const completions;
  ServerMetrics* const metrics;
  const Clock* const clock;

  HttpServerOptions options;
  ConnectionShares shares;
  std::unique_ptr<HeldBytes> bodies;
  std::vector<std::unique_ptr<HttpThread>> threads;
  std::vector<std::unique_ptr<HttpListener>> listeners;
  std::vector<std::string> bound;
  bool runs = false;
};

HttpServer::HttpServer(HandlerMaker make_handler, CompletionSource* completions,
                       ServerMetrics* metrics, const Clock* clock)
    : impl_(new Impl{std::move(make_handler), completions, metrics, clock}) {}

HttpServer::~HttpServer() { Stop(0); }

const std::vector<std::string>& HttpServer::bound() const { return impl_->bound; }

uint32_t HttpServer::connection_count() const { return ConnectionCount(impl_->threads); }

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
  const uint32_t thread_count = options.threads + (HasThreadForLast(options) ? 1 : 0);
  for (uint32_t i = 0; i < thread_count; ++i) {
    impl.threads.push_back(std::make_unique<HttpThread>(services, impl.make_handler));
  }
  if (absl::Status status = impl.ListenOnAll(); !status.ok()) return status;
  const ConnectionShares::Bounds bounds{
      options.connections, ConnectionShares::OfListener(options.connections, impl.listeners.size()),
      impl.metrics, options.logger};
  for (const std::unique_ptr<HttpListener>& listener : impl.listeners) listener->Bound(bounds);
  for (size_t i = 0; i < impl.threads.size(); ++i) impl.threads[i]->Start(static_cast<int>(i));
  impl.runs = true;
  for (const std::unique_ptr<HttpListener>& listener : impl.listeners) {
    asio::post(*listener->thread()->io(), [&listener] { listener->Await(); });
  }
  return absl::OkStatus();
}

void HttpServer::StopKeeping() {
  if (!impl_->runs) return;
  for (const std::unique_ptr<HttpThread>& thread : impl_->threads) thread->StopKeeping();
}

void HttpServer::Stop(int64_t grace_ns) {
  Impl& impl = *impl_;
  if (!std::exchange(impl.runs, false)) return;
  for (const std::unique_ptr<HttpListener>& listener : impl.listeners) impl.Close(listener.get());
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->EndSoon();
  const int64_t until_ns = impl.clock->NowNs() + grace_ns;
  while (ConnectionCount(impl.threads) > 0 && impl.clock->NowNs() < until_ns) {
    std::this_thread::sleep_for(kStopLook);
  }
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->Cut();
  while (ConnectionCount(impl.threads) > 0) std::this_thread::sleep_for(kStopLook);
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->Shutdown();
  for (const std::unique_ptr<HttpThread>& thread : impl.threads) thread->Join();
  impl.listeners.clear();
  impl.threads.clear();
}

}  // namespace mpsd
