// ConfigValues: valid names, paths and addresses in a config, on a command line, or as the name of
// a folder in a model repository.
//
// For JSON these values are just strings; the functions here say which strings are valid. A
// function …Fault() returns what is wrong, worded for the caller's error text, or an empty text:
//
//   const std::string fault = ServableNameFault(name);
//   if (!fault.empty()) object.Fail("name", fault);   // "models[0].name: must be 1 to 128 …"
//
// All functions are thread-safe and keep nothing. The ones about files ask the file system. None is
// called on the request's path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_format.h"

namespace mpsd {

// The name by which clients find a model or the server: 1 to kMaxNameBytes letters, digits, '.',
// '_' or '-', beginning with a letter or digit. Such a name needs no escape in paths, metric labels
// or log lines, and cannot lead out of a folder. A whole sentence but for its subject.
std::string ServableNameFault(std::string_view name);

// Whether `name` names one device: "cpu", "mps", "cuda", "cuda:1". The host need not have it.
bool IsOneDevice(std::string_view name);

// Why a model cannot run on `device`: it is neither one device, nor "auto", "cuda:0,2" or
// "cuda:all". A whole sentence.
std::string DeviceFault(const std::string& device);

// `path`, relative to `folder` if it is not absolute, without "." and "..". Follows no link, and
// the path need not exist. REQUIRES: `folder` is absolute.
std::string ResolvePath(const std::string& folder, const std::string& path);

// `path`, relative to the working folder if it is not absolute. Fails only without a working
// folder.
absl::StatusOr<std::string> AbsolutePath(const std::string& path);

// Why `path` is not a regular file or a link to one, as a whole sentence.
std::string FileFault(const std::string& path);

// The same for a model's path: a folder for the format "huggingface", else a file.
std::string ModelPathFault(const std::string& path, ModelFormat format);

// The file in a model's folder that says how texts become tokens: tokenizer.json, else vocab.txt,
// even if it cannot be used. If only a tokenizer_config.json shows that there is a tokenizer, the
// missing tokenizer.json is named. Empty if none of the three exists.
std::string TokenizerIn(const std::string& folder);

// The format that a model's path implies: .pt is TorchScript, .pt2 AOTInductor, a folder Hugging
// Face; nothing for other files. The worker finds out whether the contents match.
std::optional<ModelFormat> FormatOfPath(const std::string& path);

// Addresses have three forms: host:port, [v6]:port and unix:path. The host may be a name.
inline constexpr absl::string_view kUnixScheme = "unix:";

bool IsUnixAddress(absl::string_view address);

// Why `address` is invalid, as the end of a sentence that begins with the address. Port 0 is valid:
// the system then chooses a free one. unix:path is valid only if `unix_allowed`, and must fit a
// socket's path.
std::string AddressFault(const std::string& address, bool unix_allowed);

// Why `address` is no address of a collector: http://HOST:PORT, also with a path, or
// grpc://HOST:PORT, or https:// or grpcs:// for TLS. A whole sentence.
std::string CollectorFault(absl::string_view address);

// Compares texts: localhost:1 and 127.0.0.1:1 differ. False for two addresses with port 0, because
// each takes a free port of its own.
bool SameAddress(const std::string& a, const std::string& b);

// Whether no other host can reach the address. Does not resolve names: any name but localhost gives
// false.
bool IsOnThisHostOnly(absl::string_view address);

}  // namespace mpsd
