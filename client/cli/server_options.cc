#include "client/cli/server_options.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/units.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

constexpr uint64_t kMaxSecretBytes = 1 << 20;

bool AsksForTls(const ServerOptions& options) {
  return options.tls || !options.tls_ca.empty() || !options.tls_certificate.empty();
}

template <class Server>
absl::StatusOr<std::unique_ptr<Server>> ConnectTo(const std::string& where,
                                                  const ServerOptions& options, absl::Time deadline,
                                                  ExitCode* code) {
  const absl::StatusOr<client::ConnectOptions> read = ReadConnectOptions(options);
  *code = kExitNoInput;
  if (!read.ok()) return read.status();
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Connect(where, deadline, *read);
  *code = absl::IsInvalidArgument(server.status()) ? kExitUsage : kExitNotReachable;
  return server;
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text) {
  const absl::StatusOr<int64_t> duration_ns = ParseDurationNs(text);
  if (duration_ns.ok()) return absl::Nanoseconds(*duration_ns);
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", duration_ns.status().message()));
}

absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options) {
  absl::StatusOr<absl::Duration> timeout = ParseDuration("--timeout", options.timeout);
  if (!timeout.ok() || *timeout > absl::ZeroDuration()) return timeout;
  return absl::InvalidArgumentError("--timeout: must be more than 0");
}

absl::StatusOr<client::ConnectOptions> ReadConnectOptions(const ServerOptions& options) {
  client::ConnectOptions read;
  read.tls = AsksForTls(options);
  const std::pair<const std::string&, std::string*> files[] = {
      {options.tls_ca, &read.tls_ca},
      {options.tls_certificate, &read.tls_certificate},
      {options.tls_key, &read.tls_key},
      {options.token_file, &read.token}};
  for (const auto& [path, text] : files) {
    if (path.empty()) continue;
    absl::StatusOr<std::string> content = ReadWholeFile(path, kMaxSecretBytes);
    if (!content.ok()) return content.status();
    *text = *std::move(content);
  }
  for (const auto& [path, text] : {std::pair(options.tls_ca, read.tls_ca),
                                   std::pair(options.tls_certificate, read.tls_certificate)}) {
    if (path.empty() || absl::StrContains(text, "-----BEGIN ")) continue;
    return absl::InvalidArgumentError(absl::StrCat(path, " holds no certificate in the form PEM"));
  }
  absl::StripAsciiWhitespace(&read.token);
  return read;
}

absl::StatusOr<std::unique_ptr<client::Client>> Connect(const ServerOptions& options,
                                                        absl::Time deadline, ExitCode* code) {
  return ConnectTo<client::Client>(options.address, options, deadline, code);
}

absl::StatusOr<std::unique_ptr<client::HttpClient>> ConnectHttp(const ServerOptions& options,
                                                                absl::Time deadline,
                                                                ExitCode* code) {
  if (absl::StartsWith(options.address, "unix:")) {
    *code = kExitUsage;
    return absl::InvalidArgumentError(
        absl::StrCat("this verb speaks HTTP, so --server takes HOST:PORT or a URL and not '",
                     options.address, "'"));
  }
  const std::string scheme = AsksForTls(options) ? "https://" : "http://";
  const std::string url =
      absl::StrContains(options.address, "://") ? options.address : scheme + options.address;
  return ConnectTo<client::HttpClient>(url, options, deadline, code);
}

int Fail(std::ostream& err, ExitCode code, const absl::Status& status) {
  err << "mpsd: ";
  if (code == kExitServerError) err << absl::StatusCodeToString(status.code()) << ": ";
  err << std::string(status.message());
  // The caller's deadline is the option; a server's own texts with this code say so themselves.
  if (status.message() == "Deadline Exceeded") err << ": no answer came within --timeout";
  err << "\n";
  return code;
}

int WriteReport(std::ostream& out, std::ostream& err, const std::string& report) {
  out << report << std::flush;
  if (out.good()) return kExitOk;
  return Fail(err, kExitCannotWrite, absl::DataLossError("the output cannot be written"));
}

}  // namespace mpsd::cli
