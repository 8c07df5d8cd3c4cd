#include "server/config/config_warnings.h"

#include <string>

#include "gmock/gmock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ConfigWarnings, ADefaultConfigHasNone) { EXPECT_THAT(ConfigWarnings(Config()), IsEmpty()); }

TEST(ConfigWarnings, ASandboxThatIsOff) {
  Config config;
  config.sandbox = SandboxLevel::kOff;
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("sandbox: for models, ")));
  config.sandbox = SandboxLevel::kBasic;
  for (const char* name : {"a", "b", "c"}) config.models.emplace_back().name = name;
  config.models[0].sandbox = SandboxLevel::kOff;
  config.models[1].sandbox = SandboxLevel::kStrict;
  config.models[2].sandbox = SandboxLevel::kOff;
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("sandbox: for a, c, ")));
}

TEST(ConfigWarnings, MoreRowsThanAMessageHolds) {
  Config config;
  ModelConfig& model = config.models.emplace_back();
  model.name = "m";
  model.max_request_rows = 1024;
  model.spec.inputs = {{"x", DataType::kFp32, {8}}, {"any", DataType::kFp32, {-1}}};
  model.spec.outputs = {{"y", DataType::kFp32, {4}}};
  config.limits.message_bytes = 1024 * 32;
  config.limits.step_tensor_bytes = 1024 * 16;
  EXPECT_THAT(ConfigWarnings(config), IsEmpty());
  --config.limits.message_bytes;
  --config.limits.step_tensor_bytes;
  EXPECT_THAT(ConfigWarnings(config),
              ElementsAre("models[].max_request_rows of m is 1024, but limits.message holds 1023 "
                          "of its rows",
                          HasSubstr("but limits.step_tensors holds 1023")));
  model.max_request_rows = 0;
  EXPECT_THAT(ConfigWarnings(config), IsEmpty());
}

TEST(ConfigWarnings, AnAddressInTheClear) {
  Config config;
  config.listen.plaintext = true;
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("whoever reaches the address")));
  config.access.in_force = true;
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("tokens may cross")));
}

TEST(ConfigWarnings, ARateOfACredentialThatIsNoTenant) {
  Config config;
  config.access.rules.emplace_back().rate = {1, 1};
  EXPECT_THAT(ConfigWarnings(config), IsEmpty());
  config.access.tenants.header = "x-tenant";
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("access.rules[].rate counts")));
}

TEST(ConfigWarnings, ALimitOfWhatNobodyKeeps) {
  Config config;
  config.limits.connection_pin_bytes = 0;
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("limits.connection_pinned has no")));
}

TEST(ConfigWarnings, PagesOfAllSites) {
  Config config;
  config.listen.cors = {"https://a.b", "*"};
  EXPECT_THAT(ConfigWarnings(config), ElementsAre(HasSubstr("listen.cors")));
  config.access.in_force = true;
  EXPECT_THAT(ConfigWarnings(config), IsEmpty());
  config.access.in_force = false;
  config.listen.cors = {"https://a.b"};
  EXPECT_THAT(ConfigWarnings(config), IsEmpty());
}

}  // namespace
}  // namespace mpsd
