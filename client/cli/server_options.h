// ServerOptions: the options that all client verbs share, and the first steps that depend on them.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/client.h"

namespace mpsd::cli {

struct ServerOptions {
  std::string address = "127.0.0.1:8001";
  std::string timeout = "30s";
  bool json = false;
  bool tls = false;
  std::string tls_ca;  // this and the next two are paths
  std::string tls_certificate;
  std::string tls_key;
  std::string token_file;
};

// Reads the files that the options name. Errors name the file. Thread-safe.
absl::StatusOr<client::ConnectOptions> ReadConnectOptions(const ServerOptions& options);

// Connects as the options say; blocks until `deadline` at the latest. On failure `*code` is the
// verb's exit code.
absl::StatusOr<std::unique_ptr<client::Client>> Connect(const ServerOptions& options,
                                                        absl::Time deadline, ExitCode* code);

// The option `timeout`, which must be positive. Thread-safe.
absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options);

// Writes "mpsd: TEXT" to `err` and returns `code`. The text of a server's error begins with the
// name of its status code.
int Fail(std::ostream& err, ExitCode code, const absl::Status& status);

}  // namespace mpsd::cli
