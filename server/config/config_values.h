// ConfigValues: what a name, a path or an address may be where people write one: in a config, on a
// command line, or as the name of a folder in a model repository.
//
// JSON knows these values as strings only; the functions here say which strings will do. A function
// …Fault() returns what is wrong, made to stand in the error that its caller reports, and an empty
// text where nothing is wrong:
//
//   const std::string fault = ServableNameFault(name);
//   if (!fault.empty()) object.Fail("name", fault);   // "models[0].name: must be 1 to 128 …"
//
// All functions are thread-safe and keep nothing. Those that are about files ask the file
// system. None is called on the request's path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_format.h"

namespace mpsd {

// The name by which clients find a model or the server: 1 to kMaxNameBytes letters, digits, '.',
// '_' or '-', a letter or a digit first. Such a name needs no escape in a path, a label of a metric
// or a log line, and can lead out of no folder. A whole sentence but for its subject.
std::string ServableNameFault(std::string_view name);

// One device by its name: "cpu", "mps", "cuda", "cuda:1". Whether the host has it is not asked.
bool IsOneDevice(std::string_view name);

// Why a model cannot be told to run on `device`: neither one device, nor "auto", "cuda:0,2" or
// "cuda:all". A whole sentence.
std::string DeviceFault(const std::string& device);

// `path` from `folder` where it is relative, without "." and "..". Follows no link and does not ask
// whether the path exists. REQUIRES: `folder` is absolute.
std::string ResolvePath(const std::string& folder, const std::string& path);

// `path` from the working folder where it is relative. Fails only when there is no such folder.
absl::StatusOr<std::string> AbsolutePath(const std::string& path);

// Why `path` is not a regular file, or a link to one, as a whole sentence.
std::string FileFault(const std::string& path);

// The same for a model's path: a model of the format "huggingface" is a folder, others are files.
std::string ModelPathFault(const std::string& path, ModelFormat format);

// The file in a model's folder that says how texts become tokens: tokenizer.json, else vocab.txt. A
// file that cannot be used is named too, and not passed over. If only a tokenizer_config.json says
// that there is a tokenizer, the missing tokenizer.json is named. Empty if none of these is there.
std::string TokenizerIn(const std::string& folder);

// The format that a model's path tells: .pt is TorchScript, .pt2 is AOTInductor, a folder is one of
// Hugging Face's; nothing for another file. The worker finds out whether the contents are of that
// format.
std::optional<ModelFormat> FormatOfPath(const std::string& path);

// Addresses have three forms: host:port, [v6]:port and unix:path. The host may be a name.
inline constexpr absl::string_view kUnixScheme = "unix:";

bool IsUnixAddress(absl::string_view address);

// The end of a sentence that begins with the address. Port 0 is allowed: the system then chooses a
// free one. unix:path is an address only if `unix_allowed`, and its path must fit a socket's.
std::string AddressFault(const std::string& address, bool unix_allowed);

// Compares texts: localhost:1 and 127.0.0.1:1 differ. False for two addresses with port 0: each of
// them takes a free port of its own.
bool SameAddress(const std::string& a, const std::string& b);

// True for an address that no other host can reach. Names are not resolved: a name other than
// localhost may stand for any address, so it gives false.
bool IsOnThisHostOnly(absl::string_view address);

}  // namespace mpsd
