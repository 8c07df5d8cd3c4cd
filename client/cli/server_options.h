// ServerOptions: the options that all client verbs share, and the first steps with them.
//
//   const auto timeout = ParseTimeout(options.server);
//   if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
//   ExitCode code = kExitOk;
//   const auto server = ConnectInferServer(options.server, absl::Now() + *timeout, &code);
//   if (!server.ok()) return Fail(err, code, server.status());
//
// The address decides between Connect() and ConnectHttp(); verbs for HTTP alone call the latter.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/client.h"
#include "client/web/http_client.h"

namespace mpsd::cli {

inline constexpr char kDefaultGrpcAddress[] = "127.0.0.1:8001";
inline constexpr char kDefaultHttpAddress[] = "127.0.0.1:8000";

// Unchecked; filled by verbs.cc. The token is in a file: every user of the host can read a command
// line.
struct ServerOptions {
  // HOST:PORT for the verb's own protocol, "unix:/path" for gRPC, or a url.
  std::string address = kDefaultGrpcAddress;
  std::string timeout = "30s";  // for each call
  bool json = false;
  bool colours = false;  // stdout takes them
  bool tls = false;
  std::string tls_ca;  // this and the next two are paths
  std::string tls_certificate;
  std::string tls_key;
  std::string token_file;
};

// Files have at most 1 MiB each. An authority or a certificate turns TLS on; a key alone does not.
// Drops white space around the token. Errors name the file. Thread-safe.
absl::StatusOr<client::ConnectOptions> ReadConnectOptions(const ServerOptions& options);

// Blocks until `deadline` at most. After a failure `*code` is kExitNoInput for a file, kExitUsage
// for options that Client::Connect() refuses, kExitNotReachable otherwise.
absl::StatusOr<std::unique_ptr<client::Client>> Connect(const ServerOptions& options,
                                                        absl::Time deadline, ExitCode* code);

// An address without a scheme means https if the options ask for TLS.
absl::StatusOr<std::unique_ptr<client::HttpClient>> ConnectHttp(const ServerOptions& options,
                                                                absl::Time deadline,
                                                                ExitCode* code);

// A positive number with a unit: "500ms". INVALID_ARGUMENT says what is wrong. Thread-safe.
absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options);

// INVALID_ARGUMENT names the flag. Thread-safe.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text);

// A step's error and the verb's exit code; false: none.
struct Failure {
  ExitCode code = kExitOk;
  absl::Status status;

  explicit operator bool() const { return !status.ok(); }
};

// A failed verb's last step: writes "mpsd: TEXT" to `err` and returns `code`. With kExitServerError
// the text begins with the status code's name. It says so if `timeout` ended the wait.
int Fail(std::ostream& err, ExitCode code, const absl::Status& status);

// A successful verb's last step. kExitCannotWrite unless the system has taken it all.
int WriteReport(std::ostream& out, std::ostream& err, const std::string& report);

}  // namespace mpsd::cli
