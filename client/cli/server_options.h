// ServerOptions: the options that all client verbs share, and the first steps with them.
//
// Every verb that talks to a server begins alike:
//
//   const auto timeout = ParseTimeout(options.server);
//   if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
//   ExitCode code = kExitOk;
//   const auto server = ConnectInferServer(options.server, absl::Now() + *timeout, &code);
//   if (!server.ok()) return Fail(err, code, server.status());
//
// ConnectInferServer() chooses between Connect() and ConnectHttp() by the address. A verb whose
// routes only HTTP has calls ConnectHttp().
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

// The options as on the command line, unchecked; verbs.cc fills them. The token is in a file and
// never on the command line, which every user of the host can read.
struct ServerOptions {
  // HOST:PORT for the verb's own protocol; "unix:/path" for gRPC; or a url.
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

// Reads the files in the options, each of at most 1 MiB. An authority or a certificate turns TLS
// on, even without --tls; a key alone does not. White space around the token is dropped, so that a
// file may end with a newline. Errors name the file. Thread-safe.
absl::StatusOr<client::ConnectOptions> ReadConnectOptions(const ServerOptions& options);

// Connects as the options say; blocks until `deadline` at the latest. After a failure `*code` is
// the verb's exit code: kExitNoInput for a file, kExitUsage for options that Client::Connect()
// refuses, kExitNotReachable otherwise.
absl::StatusOr<std::unique_ptr<client::Client>> Connect(const ServerOptions& options,
                                                        absl::Time deadline, ExitCode* code);

// The same over HTTP. An address without a scheme means https if the options ask for TLS.
absl::StatusOr<std::unique_ptr<client::HttpClient>> ConnectHttp(const ServerOptions& options,
                                                                absl::Time deadline,
                                                                ExitCode* code);

// The option `timeout`, a positive number with a unit such as "500ms"; INVALID_ARGUMENT says what
// is wrong. Thread-safe.
absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options);

// The flag's duration; INVALID_ARGUMENT names the flag. Thread-safe.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text);

// A step's failure: its error, and the verb's exit code. False if there is none.
struct Failure {
  ExitCode code = kExitOk;
  absl::Status status;

  explicit operator bool() const { return !status.ok(); }
};

// Writes "mpsd: TEXT" to `err` and returns `code`, as the last step of a failed verb. With
// kExitServerError the text begins with the status code's name, such as "NOT_FOUND: ". If the
// option `timeout` ended the wait, the text says so.
int Fail(std::ostream& err, ExitCode code, const absl::Status& status);

// Writes a verb's report to `out`, as the last step of a successful verb. Returns kExitOk once the
// system has taken it all, else Fail()s with kExitCannotWrite.
int WriteReport(std::ostream& out, std::ostream& err, const std::string& report);

}  // namespace mpsd::cli
