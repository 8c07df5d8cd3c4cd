#include "server/http/http_thread.h"

#include <fcntl.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "server/http/http2_connection.h"
#include "server/http/http_connection.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;

// Completed batches wait for at most so many events.
constexpr size_t kEventsBetweenDrains = 16;

}  // namespace

HttpThread::HttpThread(int index, const Services& services, const HandlerMaker& make_handler)
    : index_(index),
      work_(io_.get_executor()),
      completions_(services.completions),
      handler_(make_handler(&role_)),
      ear_wait_(io_),
      timer_(io_) {
  context_ = {services.options,
              &io_,
              &role_,
              handler_.get(),
              services.bodies,
              services.metrics,
              services.clock,
              &read_buffer_,
              &replies_,
              &unflushed_,
              [this](Connection* connection) {
                role_.Check();
                Ended(connection);
              },
              [this](Connection* connection, std::shared_ptr<Connection> next) {
                role_.Check();
                Replaced(connection, std::move(next));
              }};
}

absl::Status HttpThread::Open() {
  absl::StatusOr<platform::Poller> ear = platform::Poller::Create();
  if (!ear.ok()) return ear.status();
  ear_ = *std::move(ear);
  const int copy = fcntl(ear_.fd(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return absl::ResourceExhaustedError("no descriptor is left for a door's thread");
  ear_wait_.assign(copy);
  return absl::OkStatus();
}

bool HttpThread::Start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] {
      platform::NameThread(absl::StrCat("http-", index_).c_str());
      Main();
    });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void HttpThread::Join() {
  if (thread_.joinable()) thread_.join();
}

size_t HttpThread::RunSome() {
  size_t events = 0;
  while (events < kEventsBetweenDrains && io_.poll_one() > 0) ++events;
  return events;
}

// A flushed connection may have more to write than one round takes.
size_t HttpThread::WriteReplies() {
  role_.Check();
  const size_t count = replies_.Take();
  for (const std::shared_ptr<Http2Connection>& connection : std::exchange(unflushed_, {})) {
    connection->FlushNow();
  }
  return count + unflushed_.size();
}

void HttpThread::Main() {
  role_.Bind();
  role_.Check();
  completions_->Wake();
  while (!io_.stopped()) {
    size_t done = RunSome();
    done += handler_->RoundIsOver();
    done += completions_->Drain();
    done += WriteReplies();
    if (done + handler_->RoundIsOver() > 0) {
      patience_.Found(context_.clock->NowNs());
    } else if (!LooksOn() && completions_->Park(&ear_)) {
      Sleep();
    }
  }
  // When all threads are parked, the workers ring for the completion thread.
  while (!completions_->Park(&ear_)) {
  }
  completions_->Leave(&ear_);
  role_.Unbind();
}

bool HttpThread::LooksOn() {
  return patience_.LooksOn(context_.clock->NowNs(), completions_->CoresAreLeft());
}

// Only an awake thread clears a bell: until then nobody takes the completion for one that was not
// told.
void HttpThread::Sleep() {
  Listen();
  if (replies_.FallAsleep()) io_.run_one();
  replies_.WakeUp();
  completions_->Wake();
  patience_.Found(context_.clock->NowNs());
  if (std::exchange(rung_, false)) completions_->ClearBells();
}

void HttpThread::Listen() {
  if (std::exchange(listens_, true)) return;
  ear_wait_.async_wait(asio::posix::descriptor_base::wait_read,
                       [this](const boost::system::error_code& error) {
                         role_.Check();
                         listens_ = false;
                         rung_ = !error;
                       });
}

void HttpThread::Add(int fd, int family, std::shared_ptr<asio::ssl::context> tls,
                     ConnectionClient client) {
  count_.fetch_add(1, std::memory_order_relaxed);
  // A posted function must be copyable.
  auto shared = std::make_shared<ConnectionClient>(std::move(client));
  asio::post(io_, [this, fd, family, tls = std::move(tls), shared = std::move(shared)] {
    role_.Check();
    HttpSocket socket(io_, asio::generic::stream_protocol(family, 0), fd);
    shared->stream = std::make_unique<HttpStream>(std::move(socket), tls);
    shared->end_at_ns = After(context_.clock->NowNs(), context_.options->age_ns);
    Begin(std::make_shared<HttpConnection>(&context_, std::move(*shared)));
    LookSoon();
  });
}

void HttpThread::Begin(std::shared_ptr<Connection> connection) {
  connections_.emplace(connection.get(), connection);
  connection->Start();
  if (!keeps_) connection->EndWithReply();
  if (ending_) connection->EndSoon();
}

void HttpThread::Replaced(Connection* connection, std::shared_ptr<Connection> next) {
  connections_.erase(connection);
  Begin(std::move(next));
}

void HttpThread::Ended(Connection* connection) {
  if (connections_.erase(connection) > 0) count_.fetch_sub(1, std::memory_order_release);
}

void HttpThread::LookSoon() {
  if (looks_ || connections_.empty()) return;
  looks_ = true;
  timer_.expires_after(std::chrono::milliseconds(kLookEveryMs));
  timer_.async_wait([this](const boost::system::error_code&) { Look(); });
}

void HttpThread::Look() {
  role_.Check();
  looks_ = false;
  const int64_t now_ns = context_.clock->NowNs();
  // A look may end the connection, and so change the table.
  std::vector<std::shared_ptr<Connection>> late;
  for (const auto& [pointer, connection] : connections_) {
    if (connection->IsLate(now_ns)) late.push_back(connection);
  }
  for (const std::shared_ptr<Connection>& connection : late) connection->TimeIsUp();
  handler_->Look();
  LookSoon();
}

void HttpThread::StopKeeping() {
  asio::post(io_, [this] {
    role_.Check();
    keeps_ = false;
    for (const auto& [pointer, connection] : connections_) connection->EndWithReply();
  });
}

void HttpThread::EndSoon() {
  asio::post(io_, [this] {
    role_.Check();
    ending_ = true;
    const auto connections = connections_;
    for (const auto& [pointer, connection] : connections) connection->EndSoon();
  });
}

void HttpThread::Cut() {
  asio::post(io_, [this] {
    role_.Check();
    const auto connections = connections_;
    for (const auto& [pointer, connection] : connections) connection->Cut();
  });
}

void HttpThread::CutConnectionOf(const std::string& peer) {
  asio::post(io_, [this, peer] {
    role_.Check();
    const auto connections = connections_;
    for (const auto& [pointer, connection] : connections) {
      if (connection->peer() == peer) connection->Cut();
    }
  });
}

void HttpThread::Shutdown() {
  asio::post(io_, [this] {
    role_.Check();
    MPSD_CHECK(connections_.empty());
    timer_.cancel();
    work_.reset();
    io_.stop();
  });
}

}  // namespace mpsd
