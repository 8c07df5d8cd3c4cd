#include "server/telemetry/http/http_server.h"

#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "civetweb.h"
#include "proto/base/check.h"
#include "server/telemetry/http/http_answer.h"

namespace mpsd {
namespace {

// A slow client keeps a thread until its time is up. As many connections again wait for a thread.
constexpr char kThreads[] = "32";
constexpr char kHeaderMs[] = "1000";

// mg_start2 splits its text at commas and reads letters after the port as options, so only a plain
// "host:port" may reach it.
absl::Status CheckAddress(absl::string_view address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  const bool valid = colon != absl::string_view::npos && colon > 0 &&
                     address.find_first_of(", \t\r\n+") == absl::string_view::npos &&
                     absl::SimpleAtoi(address.substr(colon + 1), &port) && port <= 65535;
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", address, "' is no address to listen on; expected host:port"));
}

// The views belong to the request.
Credentials CredentialsOf(const mg_request_info& request) {
  Credentials credentials;
  for (int i = 0; i < request.num_headers; ++i) {
    const mg_header& header = request.http_headers[i];
    if (!absl::EqualsIgnoreCase(header.name, "authorization")) continue;
    credentials.has_repeated_header = !credentials.authorization.empty();
    credentials.authorization = header.value;
  }
  return credentials;
}

void Send(mg_connection* connection, bool with_body, const HttpAnswer& answer) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n%s\r\n",
            answer.code, answer.reason, answer.content_type, answer.body.size(), answer.header);
  if (with_body) mg_write(connection, answer.body.data(), answer.body.size());
}

}  // namespace

struct HttpServer::Impl {
  ~Impl() {
    if (context != nullptr) Stop();
    mg_exit_library();
  }

  // mg_stop waits for the accepting thread, which looks every two seconds or when a client
  // connects. So this connects until the thread has seen the end.
  void Stop() {
    absl::Notification stopped;
    std::thread stopper([this, &stopped] {
      mg_stop(context);
      stopped.Notify();
    });
    while (!stopped.WaitForNotificationWithTimeout(absl::Milliseconds(10))) {
      char error[128];
      mg_connection* knock = mg_connect_client(host.c_str(), port, 0, error, sizeof(error));
      if (knock != nullptr) mg_close_connection(knock);
    }
    stopper.join();
  }

  Verdict Judge(const mg_request_info& request, absl::string_view path) const {
    if (access.gate == nullptr || !access.gate->in_force()) return Verdict::kAllowed;
    Grant grant;
    const Verdict verdict = access.gate->Enter(AccessOf(path), CredentialsOf(request), &grant);
    if (verdict != Verdict::kAllowed) {
      access.refusals->Tell(verdict, {path.data(), path.size()}, request.remote_addr);
    }
    return verdict;
  }

  static int Handle(mg_connection* connection, void* context) {
    const mg_request_info* request = mg_get_request_info(connection);
    const char* path = request->local_uri == nullptr ? "" : request->local_uri;
    const auto* impl = static_cast<const Impl*>(context);
    const Verdict verdict = impl->Judge(*request, path);
    const HttpAnswer answer = verdict == Verdict::kAllowed ? AnswerTo(request->request_method, path,
                                                                      *impl->page, impl->health)
                                                           : RefusalAnswer(verdict);
    Send(connection, absl::string_view(request->request_method) != "HEAD", answer);
    return answer.code;
  }

  // Keeps the first message of civetweb: it has the reason of a failed start. Later messages are
  // about clients, and are dropped.
  static int Message(const mg_connection* connection, const char* text) {
    const mg_context* context = mg_get_context(connection);
    Impl* impl = context == nullptr ? nullptr : static_cast<Impl*>(mg_get_user_data(context));
    if (impl == nullptr) return 1;
    absl::MutexLock lock(&impl->mu);
    if (impl->start_text.empty()) impl->start_text = text;
    return 1;
  }

  std::string StartText() {
    absl::MutexLock lock(&mu);
    return start_text;
  }

  const MetricsPage* page = nullptr;
  HealthSource* health = nullptr;
  HttpAccess access;
  mg_context* context = nullptr;
  std::string host;
  uint16_t port = 0;

  absl::Mutex mu;
  std::string start_text ABSL_GUARDED_BY(mu);
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              const MetricsPage* page,
                                                              HealthSource* health,
                                                              HttpAccess access) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  MPSD_CHECK(page != nullptr && health != nullptr);
  MPSD_CHECK(access.gate == nullptr || access.refusals != nullptr);
  mg_init_library(0);
  auto impl = std::make_unique<Impl>();
  impl->host = address.substr(0, address.rfind(':'));
  impl->page = page;
  impl->health = health;
  impl->access = access;
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           kThreads,
                           "request_timeout_ms",
                           kHeaderMs,
                           "max_request_size",
                           "8192",
                           "enable_keep_alive",
                           "no",
                           "connection_queue",
                           kThreads,
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = &Impl::Message;
  char error_text[256] = "";
  mg_init_data init{};
  init.callbacks = &callbacks;
  init.user_data = impl.get();
  init.configuration_options = options;
  mg_error_data error{};
  error.text = error_text;
  error.text_buffer_size = sizeof(error_text);
  impl->context = mg_start2(&init, &error);
  mg_server_port ports[1] = {};
  if (impl->context == nullptr || mg_get_server_ports(impl->context, 1, ports) != 1) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", address, " (listen.http): ", error_text, " ", impl->StartText()));
  }
  impl->port = static_cast<uint16_t>(ports[0].port);
  mg_set_request_handler(impl->context, "/", &Impl::Handle, impl.get());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace mpsd
