// The rules of access in a config, and each mistake in them.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/config/config.h"
#include "server/config/config_values.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

class AccessConfig : public testing::Test {
 protected:
  AccessConfig() {
    files_.WriteSecret("server.key", "");
    files_.WriteSecret("tokens", absl::StrCat("ops ", std::string(64, 'a'), "\nidle ",
                                              std::string(64, 'b'), "\n"));
  }

  // `keys` begin on line 2.
  static std::string Document(const std::string& keys) {
    return absl::StrCat("{\"models\": [{\"name\": \"m\", \"path\": \"m.pt\"}],\n", keys, "}");
  }
  std::string Error(const std::string& keys) const { return files_.Error(Document(keys)); }

  Config Read(const std::string& keys) const {
    const absl::StatusOr<Config> config = files_.Parse(Document(keys));
    EXPECT_TRUE(config.ok()) << config.status();
    return config.value_or(Config());
  }

  const ConfigFiles files_{"m.pt", "server.pem", "server.key", "ca.pem"};
};

constexpr char kTls[] =
    R"("tls": {"grpc": ["0.0.0.0:8443"], "certificate": "server.pem", "key": "server.key")";

TEST_F(AccessConfig, NothingIsInForceByDefault) {
  const Config config = Read("\"log\": {}");
  EXPECT_FALSE(config.access.in_force);
  EXPECT_TRUE(config.listen.control.empty());
  EXPECT_TRUE(config.listen.tls.grpc.empty());
}

TEST_F(AccessConfig, ReadsEveryKey) {
  const Config config = Read(absl::StrCat(
      "\"listen\": {", kTls,
      R"(, "client_ca": "ca.pem", "client_certificate": "optional"}, "control": "unix:c.sock"},
      "access": {"tokens": "tokens", "open": ["health", "reflection"], "rules": [
        {"token": "ops", "roles": ["control", "metrics"]},
        {"certificate": "*", "roles": ["infer"], "models": ["m", "n"]}]})"));
  const TlsConfig& tls = config.listen.tls;
  EXPECT_EQ(tls.grpc, std::vector<std::string>{"0.0.0.0:8443"});
  EXPECT_EQ(tls.certificate, files_.folder() + "/server.pem");
  EXPECT_EQ(tls.key, files_.folder() + "/server.key");
  EXPECT_EQ(tls.client_ca, files_.folder() + "/ca.pem");
  EXPECT_FALSE(tls.client_must_show_certificate);
  EXPECT_EQ(config.listen.control, absl::StrCat("unix:", files_.folder(), "/c.sock"));
  EXPECT_TRUE(config.access.in_force);
  EXPECT_EQ(config.access.open, RoleSet(Role::kHealth) | Role::kReflection);
  ASSERT_EQ(config.access.tokens.size(), 2U);
  EXPECT_EQ(config.access.tokens[1].name, "idle");
  ASSERT_EQ(config.access.rules.size(), 2U);
  EXPECT_EQ(config.access.rules[0],
            (AccessRule{"ops", "", RoleSet(Role::kControl) | Role::kMetrics, {}}));
  EXPECT_EQ(config.access.rules[1], (AccessRule{"", "*", Role::kInfer, {"m", "n"}}));
}

TEST_F(AccessConfig, ReadsTenantsAndRates) {
  const Config by_credential = Read(
      R"("access": {"tokens": "tokens", "rules": [
        {"token": "ops", "roles": ["infer"], "rate": 100},
        {"token": "idle", "roles": ["infer"], "rate": 5, "burst": 50}]})");
  EXPECT_EQ(by_credential.access.rules[0].rate, (RowRate{100, 100}));
  EXPECT_EQ(by_credential.access.rules[1].rate, (RowRate{5, 50}));
  EXPECT_TRUE(by_credential.access.tenants.header.empty());
  const Config by_name = Read(
      R"("access": {"open": ["infer"], "tenants": {"header": "x-tenant",
        "named": [{"name": "a", "rate": 3, "burst": 9}, {"name": "b"}], "others": {"rate": 1}}})");
  const TenantRules wanted = {"x-tenant", {{"a", {3, 9}}, {"b", {}}}, {1, 1}};
  EXPECT_EQ(by_name.access.tenants, wanted);
}

TEST_F(AccessConfig, MistakesOfTenantsAndRates) {
  const auto of_rule = [this](const std::string& keys) {
    return Error("\"access\": {\"tokens\": \"tokens\", \"rules\": [{\"token\": \"ops\", " + keys +
                 "}]}");
  };
  EXPECT_EQ(of_rule("\"roles\": [\"infer\"], \"rate\": 0"),
            "c.json:2: access.rules[0].rate: must be a whole number from 1 to 1000000, not 0");
  EXPECT_EQ(of_rule("\"roles\": [\"infer\"], \"burst\": 2"),
            "c.json:2: access.rules[0].burst: is of a 'rate', which is missing");
  EXPECT_EQ(of_rule("\"roles\": [\"metrics\"], \"rate\": 2"),
            "c.json:2: access.rules[0].rate: is of requests, for which the rule lacks the role "
            "'infer'");
  EXPECT_EQ(of_rule("\"roles\": [\"infer\"], \"rate\": 1}, "
                    "{\"token\": \"ops\", \"roles\": [\"infer\"], \"rate\": 2"),
            "c.json:2: access.rules[1].rate: an earlier rule has the rate of this credential");
  for (const char* header : {"", "X-Tenant", "x tenant", "x-bin", "authorization", "x-api-key"}) {
    EXPECT_EQ(Error(absl::StrCat("\"access\": {\"tenants\": {\"header\": \"", header, "\"}}")),
              "c.json:2: access.tenants.header: must be the name of a header: 1 to 64 of a-z, "
              "0-9, '-' and '_', and none of credentials")
        << header;
  }
  EXPECT_EQ(Error(R"("access": {"tenants": {"header": "t", "named": [{"name": "a"},
                      {"name": "a"}, {"name": ""}, {}]}})"),
            "c.json:3: access.tenants.named[1].name: 'a' is there already\n"
            "c.json:3: access.tenants.named[2].name: must have 1 to 256 bytes\n"
            "c.json:3: access.tenants.named[3]: 'name' is missing");
}

TEST_F(AccessConfig, OnlySoManyCredentialsCanHaveARate) {
  std::string rules;
  for (size_t i = 0; i <= kMaxNamedTenants; ++i) {
    absl::StrAppend(&rules, i > 0 ? ",\n" : "", R"({"certificate": "c)", i,
                    R"(", "roles": ["infer"])", i == kMaxNamedTenants ? R"(, "rate": 1})" : "}");
  }
  EXPECT_EQ(Error(absl::StrCat("\"listen\": {", kTls, ", \"client_ca\": \"ca.pem\"}}, ",
                               "\"access\": {\"rules\": [", rules, "]}")),
            "c.json:64: access.rules[62].rate: only the first 62 credentials with the role 'infer' "
            "can have a rate");
}

TEST_F(AccessConfig, AnEmptyOneLetsNobodyIn) {
  const Config config = Read("\"access\": {}");
  EXPECT_TRUE(config.access.in_force);
  EXPECT_TRUE(config.access.rules.empty());
}

TEST_F(AccessConfig, APlainAddressForOtherHostsMustBeMeant) {
  const std::string error = Error("\"listen\": {\"grpc\": [\"127.0.0.1:1\",\n\"0.0.0.0:1\"]}");
  EXPECT_EQ(error,
            "c.json:3: listen.grpc[1]: '0.0.0.0:1' can be reached from other hosts, and has no "
            "TLS: listen on 127.0.0.1, or by listen.tls, or say \"plaintext\": true where a proxy "
            "or a firewall stands before it");
  EXPECT_TRUE(absl::StartsWith(Error("\"listen\": {\"http\": \"10.0.0.1:1\"}"),
                               "c.json:2: listen.http: '10.0.0.1:1' can be reached"));
  EXPECT_EQ(Error("\"listen\": {\"grpc\": [\"0.0.0.0:1\"], \"http\": \"10.0.0.1:1\", "
                  "\"plaintext\": true}"),
            "");
}

TEST_F(AccessConfig, TlsForOtherHostsNeedsRules) {
  const std::string tls = absl::StrCat("\"listen\": {", kTls, "}}");
  EXPECT_EQ(Error(tls),
            "c.json:2: listen.tls.grpc[0]: '0.0.0.0:8443' can be reached from other hosts, and "
            "nothing says who may do what there: say it in access, were it only \"open\": "
            "[\"infer\"]");
  EXPECT_EQ(Error(tls + ", \"access\": {\"open\": [\"infer\"]}"), "");
}

TEST_F(AccessConfig, WhichAddressesOtherHostsReach) {
  for (const char* address :
       {"127.0.0.1:1", "127.255.0.1:1", "[::1]:1", "localhost:1", "LocalHost:1", "unix:/s"}) {
    EXPECT_TRUE(IsOnThisHostOnly(address)) << address;
  }
  for (const char* address : {"0.0.0.0:1", "128.0.0.1:1", "[::]:1", "[::ffff:127.0.0.1]:1",
                              "127.evil.example:1", "localhost.example:1", "host:1"}) {
    EXPECT_FALSE(IsOnThisHostOnly(address)) << address;
  }
}

TEST_F(AccessConfig, MistakesOfTls) {
  EXPECT_EQ(Error("\"listen\": {\"tls\": {\"certificat\": 1}}"),
            "c.json:2: listen.tls.certificat: unknown key; did you mean 'certificate'?\n"
            "c.json:2: listen.tls: 'certificate' is missing\n"
            "c.json:2: listen.tls: 'key' is missing\n"
            "c.json:2: listen.tls: 'grpc' is missing");
  const std::string open = ", \"access\": {}";
  EXPECT_EQ(
      Error(absl::StrCat("\"listen\": {", kTls, ", \"client_certificate\": \"required\"}}", open)),
      "c.json:2: listen.tls.client_certificate: needs client_ca, by which they are checked");
  EXPECT_EQ(Error("\"listen\": {\"tls\": {\"grpc\": [\"unix:s\"], \"certificate\": "
                  "\"server.pem\", \"key\": \"server.key\"}}" +
                  open),
            "c.json:2: listen.tls.grpc[0]: 'unix:s' must be host:port");
  EXPECT_EQ(Error("\"listen\": {\"grpc\": [\"127.0.0.1:5\"], \"tls\": {\"grpc\": "
                  "[\"127.0.0.1:5\"], \"certificate\": \"server.pem\", \"key\": \"server.key\"}}"),
            "c.json:2: listen.tls.grpc[0]: is an address without TLS too");
}

TEST_F(AccessConfig, AKeyThatOthersReadIsRefused) {
  files_.Write("other.key", "");
  const std::string error = Error(
      "\"listen\": {\"tls\": {\"grpc\": [\"127.0.0.1:5\"], \"certificate\": "
      "\"server.pem\", \"key\": \"other.key\"}}");
  EXPECT_EQ(error,
            "c.json:2: listen.tls.key: 'other.key' has the mode 0644, which lets others at it; it "
            "must be 0600");
}

TEST_F(AccessConfig, MistakesOfTheControlSocket) {
  EXPECT_EQ(Error("\"listen\": {\"control\": \"127.0.0.1:7\"}"),
            "c.json:2: listen.control: must be unix:path");
  EXPECT_EQ(Error("\"listen\": {\"grpc\": [\"unix:s\"], \"control\": \"unix:s\"}"),
            "c.json:2: listen.control: is an address of grpc too");
}

TEST_F(AccessConfig, MistakesOfTheTokens) {
  EXPECT_TRUE(absl::StartsWith(Error("\"access\": {\"tokens\": \"nothing\"}"),
                               "c.json:2: access.tokens: 'nothing' cannot be read"));
  files_.Write("open", "");
  EXPECT_EQ(Error("\"access\": {\"tokens\": \"open\"}"),
            "c.json:2: access.tokens: 'open' has the mode 0644, which lets others at it; it must "
            "be 0600");
  files_.WriteSecret("wrong", "\nx y");
  EXPECT_EQ(Error("\"access\": {\"tokens\": \"wrong\"}"),
            "c.json:2: access.tokens: 'wrong' line 2: the SHA-256 must be 64 hex digits");
}

TEST_F(AccessConfig, MistakesOfARule) {
  const auto rule = [this](const std::string& text) {
    return Error("\"access\": {\"tokens\": \"tokens\", \"rules\": [\n" + text + "]}");
  };
  const std::string lead = "c.json:3: access.rules[0]";
  EXPECT_EQ(rule("{\"token\": \"ops\", \"roles\": [\"infr\"]}"),
            lead + ".roles[0]: 'infr' is no role; did you mean 'infer'?");
  EXPECT_EQ(rule("{\"token\": \"ops\", \"role\": []}"),
            lead + ".role: unknown key; did you mean 'roles'?\n" + lead + ": 'roles' is missing");
  EXPECT_EQ(rule("{\"token\": \"ops\", \"roles\": []}"),
            lead + ".roles: must hold at least one role");
  EXPECT_EQ(rule("{\"token\": \"nobody\", \"roles\": [\"infer\"]}"),
            lead + ".token: the file of tokens has no 'nobody'");
  EXPECT_EQ(rule("{\"roles\": [\"infer\"]}"), lead + ": must name either a token or a certificate");
  EXPECT_EQ(rule("{\"certificate\": \"a\", \"roles\": [\"infer\"]}"),
            lead +
                ".certificate: no client is asked for a certificate: listen.tls.client_ca is "
                "missing");
  EXPECT_EQ(rule("{\"token\": \"ops\", \"roles\": [\"infer\"], \"models\": []}"),
            lead + ".models: must hold at least one model; leave it out for all of them");
  EXPECT_TRUE(
      absl::StartsWith(rule("{\"token\": \"ops\", \"roles\": [\"infer\"], \"models\": [\"../m\"]}"),
                       lead + ".models[0]: "));
}

}  // namespace
}  // namespace mpsd
