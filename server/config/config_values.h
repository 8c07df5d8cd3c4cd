// ConfigValues: which names, paths and addresses are valid.
//
// A function …Fault() returns what is wrong, worded for the caller's error text, or an empty text:
//
//   const std::string fault = ServableNameFault(name);
//   if (!fault.empty()) object.Fail("name", fault);   // "models[0].name: must be 1 to 128 …"
//
// All are thread-safe. The ones about files ask the file system: never on the request's path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_format.h"

namespace mpsd {

// A name for clients: 1 to kMaxNameBytes letters, digits, '.', '_' or '-', beginning with a letter
// or digit. It needs no escape in paths, labels or logs, and cannot lead out of a folder. A whole
// sentence but for its subject.
std::string ServableNameFault(std::string_view name);

// "cpu", "mps", "cuda", "cuda:1". The host need not have it.
bool IsOneDevice(std::string_view name);

// Valid: one device, "auto", "cuda:0,2" or "cuda:all". A whole sentence.
std::string DeviceFault(const std::string& device);

// `path` without "." and "..", from `folder` if it is relative. Follows no link; the path need not
// exist. REQUIRES: `folder` is absolute.
std::string ResolvePath(const std::string& folder, const std::string& path);

// `path`, from the working folder if it is relative. Fails only without a working folder.
absl::StatusOr<std::string> AbsolutePath(const std::string& path);

// Why it is not a regular file or a link to one. A whole sentence.
std::string FileFault(const std::string& path);

// Why it is no folder that can be read. A whole sentence.
std::string RepositoryFault(const std::string& path);

// The end of a fault of ModelPathFault().
inline constexpr absl::string_view kNoConfigInFolder = "there is no config.json in it";

// A model of the format "huggingface" is a folder with a config and weights, others are files. The
// worker reads the files, and tells how to convert weights of other tools.
std::string ModelPathFault(const std::string& path, ModelFormat format);

// tokenizer.json, else vocab.txt, even if it cannot be used. If there is only a
// tokenizer_config.json, the missing tokenizer.json. Empty without all three.
std::string TokenizerIn(const std::string& folder);

// .pt is TorchScript, .pt2 AOTInductor, a folder Hugging Face; nothing for other files. The
// contents may not match.
std::optional<ModelFormat> FormatOfPath(const std::string& path);

// Addresses are host:port, [v6]:port or unix:path. The host may be a name.
inline constexpr absl::string_view kUnixScheme = "unix:";

bool IsUnixAddress(absl::string_view address);

// The end of a sentence that begins with the address. Port 0 is valid: the system chooses.
// unix:path is valid only if `unix_allowed`, and must fit a socket's path.
std::string AddressFault(const std::string& address, bool unix_allowed);

// An address is http://HOST:PORT, also with a path, or grpc://HOST:PORT; https:// or grpcs:// for
// TLS. A whole sentence.
std::string CollectorFault(absl::string_view address);

// Compares texts: localhost:1 and 127.0.0.1:1 differ. False for two addresses with port 0, since
// each takes a free port.
bool SameAddress(const std::string& a, const std::string& b);

// Whether no other host can reach it. Resolves no names but localhost.
bool IsOnThisHostOnly(absl::string_view address);

}  // namespace mpsd
