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

constexpr std::array<std::string_view, 8> kListenKeys = {
    "grpc", "tls", "control", "http", "cors", "hosts", "reflection", "plaintext"};
constexpr std::array<std::string_view, 6> kTlsKeys = {"grpc", "http",      "certificate",
                                                      "key",  "client_ca", "client_certificate"};
constexpr std::array<std::string_view, 3> kReflections = {"local", "off", "on"};
constexpr std::array<std::string_view, 2> kClientCertificates = {"required", "optional"};

constexpr size_t kMaxAddresses = 16;
constexpr size_t kMaxOrigins = 16;
constexpr size_t kMaxHosts = 16;
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

// `what`: the error for an address that is among these too.
struct OtherAddresses {
  const std::vector<std::string>* addresses;
  std::string_view what;
};

void CheckIsNew(const std::string& address, const std::string& path,
                const std::vector<OtherAddresses>& others, JsonErrors* errors) {
  for (const OtherAddresses& other : others) {
    for (const std::string& taken : *other.addresses) {
      if (SameAddress(taken, address)) errors->Add(path, std::string(other.what));
    }
  }
}

// An address may appear once, and not among `others`.
std::vector<std::string> ReadAddresses(const JsonObject& object, std::string_view key,
                                       const std::string& folder, bool unix_allowed,
                                       std::vector<OtherAddresses> others) {
  std::vector<std::string> addresses;
  others.push_back({&addresses, "stands twice"});
  const auto add = [&](const nlohmann::json& element, const std::string& path) {
    std::string address = ReadAddress(element, path, folder, unix_allowed, object.errors());
    CheckIsNew(address, path, others, object.errors());
    addresses.push_back(std::move(address));
  };
  object.GetList(key, kMaxAddresses, add);
  const nlohmann::json* list = object.Find(key);
  if (list != nullptr && list->is_array() && list->empty()) {
    object.Fail(key, "must hold at least one address");
  }
  return addresses;
}

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
  for (const std::string_view key : {"certificate", "key"}) object.Require(key);
  if (object.Find("http") == nullptr) object.Require("grpc");
  const OtherAddresses plain{&listen->grpc, "is an address without TLS too"};
  tls.grpc = ReadAddresses(object, "grpc", folder, /*unix_allowed=*/false, {plain});
  tls.http = ReadAddresses(object, "http", folder, /*unix_allowed=*/false,
                           {plain, {&tls.grpc, "is an address of grpc too"}});
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

// A text is a list of one, "" an empty list.
void ReadHttp(const JsonObject& object, const std::string& folder, ListenConfig* listen) {
  const std::vector<OtherAddresses> others = {{&listen->grpc, "is an address of grpc too"},
                                              {&listen->tls.grpc, "is an address of tls.grpc too"},
                                              {&listen->tls.http, "is an address of tls.http too"}};
  const nlohmann::json* http = object.Find("http");
  const std::string path = object.PathOf("http");
  if (http == nullptr) {
    for (const std::string& address : listen->http) {
      CheckIsNew(address, path, others, object.errors());
    }
    return;
  }
  if (http->is_array()) {
    listen->http = ReadAddresses(object, "http", folder, /*unix_allowed=*/true, others);
    return;
  }
  listen->http.clear();
  if (*http == "") return;
  listen->http.push_back(ReadAddress(*http, path, folder, /*unix_allowed=*/true, object.errors()));
  CheckIsNew(listen->http[0], path, others, object.errors());
}

// As a browser says it: a scheme, a host and perhaps a port.
bool IsOrigin(const std::string& text) {
  if (text == "*") return true;
  const size_t scheme = text.find("://");
  const bool is_web = text.substr(0, scheme) == "http" || text.substr(0, scheme) == "https";
  return is_web && text.size() > scheme + 3 &&
         text.find_first_of("/ *?#@,\t\r\n", scheme + 3) == std::string::npos;
}

void ReadOrigins(const JsonObject& object, ListenConfig* listen) {
  object.GetList("cors", kMaxOrigins, [&](const nlohmann::json& element, const std::string& path) {
    if (!element.is_string() || !IsOrigin(element.get<std::string>())) {
      return object.errors()->Add(path, "must be \"*\" or a site like 'https://app.example:8443'");
    }
    listen->cors.push_back(element.get<std::string>());
  });
}

// As a browser says it, without the port.
bool IsHostName(const std::string& text) {
  return !text.empty() && text.find_first_of("/: *?#@,\t\r\n") == std::string::npos;
}

void ReadHosts(const JsonObject& object, ListenConfig* listen) {
  object.GetList("hosts", kMaxHosts, [&](const nlohmann::json& element, const std::string& path) {
    if (!element.is_string() || !IsHostName(element.get<std::string>())) {
      return object.errors()->Add(path, "must be a name like 'mpsd.example', without a port");
    }
    listen->hosts.push_back(element.get<std::string>());
  });
}

}  // namespace

absl::Span<const std::string_view> ListenKeys() { return kListenKeys; }

void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen) {
  const JsonObject object(json, "listen", kListenKeys, errors);
  std::vector<std::string> grpc = ReadAddresses(object, "grpc", folder, /*unix_allowed=*/true, {});
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
  ReadOrigins(object, listen);
  ReadHosts(object, listen);
}

}  // namespace mpsd
