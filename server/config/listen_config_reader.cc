#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/access/token_file.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 6> kListenKeys = {"grpc", "tls",        "control",
                                                         "http", "reflection", "plaintext"};
constexpr std::array<std::string_view, 5> kTlsKeys = {"grpc", "certificate", "key", "client_ca",
                                                      "client_certificate"};
constexpr std::array<std::string_view, 3> kReflections = {"local", "off", "on"};
constexpr std::array<std::string_view, 2> kClientCertificates = {"required", "optional"};

constexpr size_t kMaxAddresses = 16;
constexpr unsigned kOthers = 0007;

std::string ReadAddress(const nlohmann::json& json, const std::string& path,
                        const std::string& folder, bool unix_allowed, JsonErrors* errors) {
  if (!json.is_string()) {
    errors->Add(path, WrongType("an address like '127.0.0.1:8001'", json));
    return "";
  }
  std::string address = json.get<std::string>();
  if (unix_allowed && IsUnixAddress(address) && address.size() > kUnixScheme.size()) {
    address = absl::StrCat(kUnixScheme, ResolvePath(folder, address.substr(kUnixScheme.size())));
  }
  const std::string fault = AddressFault(address, unix_allowed);
  if (!fault.empty()) errors->Add(path, absl::StrCat(JsonText(json), " ", fault));
  return address;
}

// Reads the list at "grpc". No address may stand twice, nor in `listen` as an address without TLS.
std::vector<std::string> ReadAddresses(const JsonObject& object, const std::string& folder,
                                       bool unix_allowed, const ListenConfig& listen) {
  std::vector<std::string> addresses;
  const auto add = [&](const nlohmann::json& element, const std::string& path) {
    std::string address = ReadAddress(element, path, folder, unix_allowed, object.errors());
    for (const std::string& other : addresses) {
      if (SameAddress(other, address)) object.errors()->Add(path, "stands twice");
    }
    for (const std::string& other : listen.grpc) {
      if (unix_allowed || !SameAddress(other, address)) continue;
      object.errors()->Add(path, "is an address without TLS too");
    }
    addresses.push_back(std::move(address));
  };
  object.GetList("grpc", kMaxAddresses, add);
  const nlohmann::json* grpc = object.Find("grpc");
  if (grpc != nullptr && grpc->is_array() && grpc->empty()) {
    object.Fail("grpc", "must hold at least one address");
  }
  return addresses;
}

// Reads the path of a file that must exist.
void ReadFilePath(const JsonObject& object, std::string_view key, const std::string& folder,
                  std::string* path) {
  object.Get(key, path);
  if (path->empty()) return;
  *path = ResolvePath(folder, *path);
  const std::string fault = FileFault(*path);
  if (!fault.empty()) object.Fail(key, fault);
}

void ReadTls(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
             ListenConfig* listen) {
  const JsonObject object(json, "listen.tls", kTlsKeys, errors);
  TlsConfig& tls = listen->tls;
  for (const std::string_view key : {"grpc", "certificate", "key"}) object.Require(key);
  tls.grpc = ReadAddresses(object, folder, /*unix_allowed=*/false, *listen);
  ReadFilePath(object, "certificate", folder, &tls.certificate);
  ReadFilePath(object, "key", folder, &tls.key);
  ReadFilePath(object, "client_ca", folder, &tls.client_ca);
  const std::string fault = SecretFileFault(tls.key, kOthers);
  if (!fault.empty()) object.Fail("key", fault);
  size_t mode = 0;
  object.GetChoice("client_certificate", kClientCertificates, &mode);
  tls.client_must_show_certificate = mode == 0;
  if (object.Find("client_certificate") != nullptr && tls.client_ca.empty()) {
    object.Fail("client_certificate", "needs client_ca, by which they are checked");
  }
}

void ReadControl(const JsonObject& object, const std::string& folder, ListenConfig* listen) {
  const nlohmann::json* control = object.Find("control");
  if (control == nullptr || *control == "") return;
  const std::string path = object.PathOf("control");
  listen->control = ReadAddress(*control, path, folder, /*unix_allowed=*/true, object.errors());
  if (control->is_string() && !IsUnixAddress(listen->control)) {
    object.Fail("control", "must be unix:path");
  }
  for (const std::string& other : listen->grpc) {
    if (SameAddress(other, listen->control)) object.Fail("control", "is an address of grpc too");
  }
}

void ReadHttp(const JsonObject& object, const std::string& folder, ListenConfig* listen) {
  const nlohmann::json* http = object.Find("http");
  if (http != nullptr && *http == "") {
    listen->http.clear();
    return;
  }
  const std::string path = object.PathOf("http");
  if (http != nullptr) {
    listen->http = ReadAddress(*http, path, folder, /*unix_allowed=*/false, object.errors());
  }
  for (const std::string& other : listen->grpc) {
    if (SameAddress(other, listen->http)) object.errors()->Add(path, "is an address of grpc too");
  }
  for (const std::string& other : listen->tls.grpc) {
    if (SameAddress(other, listen->http)) {
      object.errors()->Add(path, "is an address of tls.grpc too");
    }
  }
}

}  // namespace

void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen) {
  const JsonObject object(json, "listen", kListenKeys, errors);
  std::vector<std::string> grpc = ReadAddresses(object, folder, /*unix_allowed=*/true, *listen);
  if (object.Find("grpc") != nullptr) listen->grpc = std::move(grpc);
  if (const nlohmann::json* tls = object.Find("tls"); tls != nullptr) {
    ReadTls(*tls, folder, errors, listen);
  }
  ReadControl(object, folder, listen);
  object.Get("plaintext", &listen->plaintext);
  size_t reflection = 0;
  object.GetChoice("reflection", kReflections, &reflection);
  listen->reflection = static_cast<Reflection>(reflection);
  ReadHttp(object, folder, listen);
}

}  // namespace mpsd
