#include "server/config/config_values.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/link/json_object.h"
#include "server/config/config.h"
#include "server/request/device_list.h"

namespace mpsd {
namespace {

// 107 on Linux, 103 on macOS.
constexpr size_t kMaxSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

std::string HostFault(absl::string_view host) {
  if (host.empty()) return "has no host; 0.0.0.0 stands for all of them";
  if (host.front() == '[') {
    in6_addr parsed{};
    const std::string inner(host.substr(1, host.size() - 2));
    if (host.back() == ']' && inet_pton(AF_INET6, inner.c_str(), &parsed) == 1) return "";
    return "has no IPv6 address in its brackets";
  }
  if (absl::StrContains(host, ':')) return "has an IPv6 address, which must stand in brackets";
  const bool plain = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
  return plain ? "" : "has a host that is neither a name nor an address";
}

std::string SocketPathFault(absl::string_view path) {
  if (path.empty()) return "has no path";
  if (path.size() <= kMaxSocketPathBytes) return "";
  return absl::StrCat("has a path of ", path.size(), " bytes; a socket's holds at most ",
                      kMaxSocketPathBytes);
}

constexpr std::array<std::string_view, 6> kDevices = {"auto",   "cpu",           "cuda",
                                                      "cuda:0", kAllCudaDevices, "mps"};

// "1", "0,2".
bool IsListOfNumbers(absl::string_view text) {
  const std::vector<absl::string_view> numbers = absl::StrSplit(text, ',');
  std::set<uint32_t> indexes;
  for (const absl::string_view number : numbers) {
    uint32_t index = 0;
    const bool is_number = absl::SimpleAtoi(number, &index) && number == absl::StrCat(index);
    if (!is_number || index > kMaxDeviceIndex || !indexes.insert(index).second) return false;
  }
  return numbers.size() <= kMaxWorkers;
}

// Why a folder cannot be one of Hugging Face's; empty if it may be.
std::string FolderFault(const std::string& folder) {
  constexpr absl::string_view kWeights[] = {
      ".safetensors", ".safetensors.index.json", ".bin", ".pt", ".h5", ".onnx"};
  std::error_code error;
  bool has_config = false;
  bool has_weights = false;
  const std::filesystem::directory_iterator end;
  for (auto file = std::filesystem::directory_iterator(folder, error); !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename();
    has_config |= name == "config.json";
    for (const absl::string_view ending : kWeights) has_weights |= absl::EndsWith(name, ending);
  }
  if (error) return absl::StrCat("'", folder, "' cannot be read: ", error.message());
  const std::string head = absl::StrCat("'", folder, "' is no model's folder of Hugging Face's: ");
  if (!has_config) return absl::StrCat(head, kNoConfigInFolder);
  return has_weights ? "" : head + "there are no weights in it, such as model.safetensors";
}

bool IsDevice(const std::string& device) {
  if (std::find(kDevices.begin(), kDevices.end(), device) != kDevices.end()) return true;
  absl::string_view numbers = device;
  return absl::ConsumePrefix(&numbers, "cuda:") && IsListOfNumbers(numbers);
}

}  // namespace

std::string ServableNameFault(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  const bool begins_well =
      !name.empty() && absl::ascii_isalnum(static_cast<unsigned char>(name[0]));
  if (plain && begins_well && name.size() <= kMaxNameBytes) return "";
  return absl::StrCat("must be 1 to ", kMaxNameBytes,
                      " letters, digits, '.', '_' or '-', a letter or digit first, not ",
                      JsonText(nlohmann::json(std::string(name))));
}

bool IsOneDevice(std::string_view name) {
  if (name == "cpu" || name == "mps" || name == "cuda") return true;
  absl::string_view number(name.data(), name.size());
  uint32_t index = 0;
  return absl::ConsumePrefix(&number, "cuda:") && absl::SimpleAtoi(number, &index) &&
         number == absl::StrCat(index) && index <= kMaxDeviceIndex;
}

std::string DeviceFault(const std::string& device) {
  if (IsDevice(device)) return "";
  return absl::StrCat("there is no ", JsonText(nlohmann::json(device)), " here",
                      DidYouMean(device, kDevices, "the choices are"));
}

std::string ResolvePath(const std::string& folder, const std::string& path) {
  MPSD_CHECK(!folder.empty() && folder.front() == '/');
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (!error) return absolute.lexically_normal().string();
  return absl::InternalError(absl::StrCat("'", path, "' has no place: ", error.message()));
}

std::string FileFault(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_regular_file(status)) return "";
  if (status.type() == std::filesystem::file_type::not_found) {
    return absl::StrCat("there is no file '", path, "'");
  }
  if (std::filesystem::exists(status)) return absl::StrCat("'", path, "' is not a file");
  return absl::StrCat("'", path, "' cannot be looked at: ", error.message());
}

std::string RepositoryFault(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return absl::StrCat("there is no folder '", path, "'");
  }
  const std::filesystem::directory_iterator first(path, error);
  return error ? absl::StrCat("'", path, "' cannot be read: ", error.message()) : "";
}

std::string ModelPathFault(const std::string& path, ModelFormat format) {
  if (format != ModelFormat::kHuggingFace) return FileFault(path);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return FolderFault(path);
  if (std::filesystem::exists(path, error)) return absl::StrCat("'", path, "' is not a folder");
  return absl::StrCat("there is no folder '", path, "'");
}

std::string TokenizerIn(const std::string& folder) {
  const std::filesystem::path path(folder);
  const auto has = [&path](const char* name) {
    std::error_code error;
    return std::filesystem::symlink_status(path / name, error).type() !=
           std::filesystem::file_type::not_found;
  };
  if (has("tokenizer.json")) return (path / "tokenizer.json").string();
  if (has("vocab.txt")) return (path / "vocab.txt").string();
  return has("tokenizer_config.json") ? (path / "tokenizer.json").string() : "";
}

std::optional<ModelFormat> FormatOfPath(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ModelFormat::kHuggingFace;
  if (absl::EndsWith(path, ".pt")) return ModelFormat::kTorchScript;
  if (absl::EndsWith(path, ".pt2")) return ModelFormat::kAoti;
  return std::nullopt;
}

bool IsUnixAddress(absl::string_view address) { return absl::StartsWith(address, kUnixScheme); }

bool SameAddress(const std::string& a, const std::string& b) {
  return a == b && (IsUnixAddress(a) || !absl::EndsWith(a, ":0"));
}

std::string AddressFault(const std::string& address, bool unix_allowed) {
  if (IsUnixAddress(address)) {
    if (!unix_allowed) return "must be host:port";
    return SocketPathFault(absl::string_view(address).substr(kUnixScheme.size()));
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || absl::EndsWith(address, "]")) {
    return absl::StrCat("has no port; it must be host:port, [v6]:port",
                        unix_allowed ? " or unix:path" : "");
  }
  const absl::string_view port = absl::string_view(address).substr(colon + 1);
  uint32_t number = 0;
  const bool digits = std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &number) || number > 65535) {
    return absl::StrCat("has the port '", port, "'; a port is a number from 0 to 65535");
  }
  return HostFault(absl::string_view(address).substr(0, colon));
}

std::string CollectorFault(absl::string_view address) {
  constexpr char kForms[] = "must be http://HOST:PORT or grpc://HOST:PORT, or https or grpcs";
  const bool is_grpc = absl::ConsumePrefix(&address, "grpc");
  if (!is_grpc && !absl::ConsumePrefix(&address, "http")) return kForms;
  absl::ConsumePrefix(&address, "s");
  if (!absl::ConsumePrefix(&address, "://")) return kForms;
  const absl::string_view place = address.substr(0, address.find('/'));
  const absl::string_view path = address.substr(place.size());
  if (is_grpc && !path.empty()) return "has a path, which gRPC has not";
  const auto is_of_path = [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("/-._~%", c);
  };
  if (!std::all_of(path.begin(), path.end(), is_of_path)) return kForms;
  return AddressFault(std::string(place), /*unix_allowed=*/false);
}

bool IsOnThisHostOnly(absl::string_view address) {
  if (IsUnixAddress(address)) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  in_addr v4{};
  if (inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == 127;
  }
  return host == "[::1]" || absl::EqualsIgnoreCase(host, "localhost");
}

}  // namespace mpsd
