// The rules of access in a config.
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
  Config Read(const std::string& keys) const { return files_.Read(Document(keys)); }

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

TEST_F(AccessConfig, OnlySoManyCredentialsCanHaveARate) {
  std::string rules;
  for (size_t i = 0; i <= kMaxNamedTenants; ++i) {
    absl::StrAppend(&rules, i > 0 ? ",\n" : "", R"({"certificate": "c)", i,
                    R"(", "roles": ["infer"])", i == kMaxNamedTenants ? R"(, "rate": 1})" : "}");
  }
  EXPECT_EQ(
      files_.Error(Document(absl::StrCat("\"listen\": {", kTls, ", \"client_ca\": \"ca.pem\"}}, ",
                                         "\"access\": {\"rules\": [", rules, "]}"))),
      "c.json:64: access.rules[62].rate: only the first 62 credentials with the role 'infer' "
      "can have a rate");
}

TEST_F(AccessConfig, AnEmptyOneLetsNobodyIn) {
  const Config config = Read("\"access\": {}");
  EXPECT_TRUE(config.access.in_force);
  EXPECT_TRUE(config.access.rules.empty());
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

}  // namespace
}  // namespace mpsd
