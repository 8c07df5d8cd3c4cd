// The table of limits, and all that is made of it or held to it.
#include "server/config/limit_keys.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"
#include "tests/server/config/limit_docs.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

std::string Name(const LimitKey& limit) { return std::string(limit.key); }

absl::StatusOr<Config> ParseWith(const LimitKey& limit, const Json& value) {
  const ConfigFiles files({"m.pt"});
  Json document;
  document["models"] = Json::array({{{"name", "m"}, {"path", "m.pt"}}});
  document["limits"][Name(limit)] = value;
  return files.Parse(document.dump());
}

// The smallest value that a config may give where it says nothing of the other limits.
uint64_t Minimum(const LimitKey& limit) {
  return limit.kind == LimitKind::kBufferSize ? LimitsConfig().message_bytes : limit.minimum;
}

// A config in which one limit is as large as it may be.
LimitsConfig WithMaximum(const LimitKey& limit) {
  const absl::StatusOr<Config> config = ParseWith(limit, LimitJson(limit, limit.maximum));
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? config->limits : LimitsConfig();
}

TEST(LimitKeys, HaveNamesAndSeriesOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> series;
  for (const LimitKey& limit : LimitKeys()) {
    EXPECT_TRUE(names.insert(limit.key).second) << limit.key;
    EXPECT_TRUE(limit.series.empty() || series.insert(limit.series).second) << limit.series;
  }
}

TEST(LimitKeys, AreReadIntoTheirMembers) {
  for (const LimitKey& limit : LimitKeys()) {
    EXPECT_EQ(LimitValue(limit, WithMaximum(limit)), limit.maximum) << limit.key;
  }
}

TEST(LimitKeys, AreTakenAtTheirMinimum) {
  for (const LimitKey& limit : LimitKeys()) {
    const Config config = ParseWith(limit, LimitJson(limit, Minimum(limit))).value();
    EXPECT_EQ(LimitValue(limit, config.limits), Minimum(limit)) << limit.key;
  }
}

TEST(LimitKeys, AreRefusedBeyondTheirBounds) {
  for (const LimitKey& limit : LimitKeys()) {
    if (limit.kind == LimitKind::kFlag) continue;
    std::vector<uint64_t> refused = {limit.maximum + 1};
    if (Minimum(limit) > 0) refused.push_back(Minimum(limit) - 1);
    for (const uint64_t value : refused) {
      const absl::Status status = ParseWith(limit, LimitJson(limit, value)).status();
      EXPECT_TRUE(
          absl::StrContains(status.message(), absl::StrCat("limits.", Name(limit), ": must")))
          << value << ": " << status;
    }
  }
}

TEST(LimitKeys, AreRefusedWithoutTheirUnitOrType) {
  for (const LimitKey& limit : LimitKeys()) {
    for (const Json& value : {Json("1"), Json(Json::array())}) {
      EXPECT_FALSE(ParseWith(limit, value).ok()) << limit.key << " " << value;
    }
  }
}

TEST(LimitKeys, NameThoseThatNeedARestart) {
  const LimitsConfig before;
  EXPECT_EQ(LimitsThatNeedARestart(before, before), std::vector<std::string>{});
  for (const LimitKey& limit : LimitKeys()) {
    if (limit.kind == LimitKind::kFlag) continue;  // its maximum may be its default
    std::vector<std::string> changed = LimitsThatNeedARestart(before, WithMaximum(limit));
    // A larger message makes the buffer for it larger.
    if (limit.key == "message") std::erase(changed, "limits.buffered");
    const bool needs = limit.effect == LimitEffect::kAtRestart;
    EXPECT_EQ(changed, needs ? std::vector<std::string>{"limits." + Name(limit)}
                             : std::vector<std::string>{});
  }
}

TEST(LimitKeys, ShowTheirValuesAsSeries) {
  LimitsConfig limits;
  limits.message_bytes = 5;
  const auto series = LimitSeries(limits);
  ASSERT_FALSE(series.empty());
  EXPECT_EQ(series.front(), (std::pair<std::string, double>("message_bytes", 5)));
}

TEST(LimitDocs, ReadmeHasTheRowOfEachLimit) {
  const std::string readme = ReadConfigFolder("README.md");
  for (const LimitKey& limit : LimitKeys()) {
    EXPECT_TRUE(absl::StrContains(readme, LimitReadmeRow(limit) + "\n"))
        << "config/README.md lacks this row:\n"
        << LimitReadmeRow(limit);
  }
}

TEST(LimitDocs, ReadmeNamesTheLimitsThatNeedNoRestart) {
  const std::string readme = ReadConfigFolder("README.md");
  const size_t begin = readme.find("These keys take effect at a reload");
  ASSERT_NE(begin, std::string::npos);
  const std::string list = readme.substr(begin, readme.find(';', begin) - begin);
  for (const LimitKey& limit : LimitKeys()) {
    const std::string name = absl::StrCat("`limits.", Name(limit), "`");
    EXPECT_EQ(absl::StrContains(list, name), limit.effect == LimitEffect::kAtReload) << name;
  }
}

TEST(LimitDocs, SchemaHasThePropertyOfEachLimit) {
  const Json schema = Json::parse(ReadConfigFolder("schema.json"));
  const Json& properties = schema["properties"]["limits"]["properties"];
  for (const LimitKey& limit : LimitKeys()) {
    const Json wanted = LimitSchema(limit);
    EXPECT_EQ(properties.value(Name(limit), Json()), wanted)
        << "properties.limits.properties of config/schema.json lacks this:\n\"" << limit.key
        << "\": " << LimitSchema(limit).dump(2);
  }
}

TEST(LimitDocs, ReferenceHasTheDefaultOfEachLimit) {
  const Json reference = Json::parse(ReadConfigFolder("reference.json"), nullptr, false, true);
  for (const LimitKey& limit : LimitKeys()) {
    const Json found = reference["limits"].value(Name(limit), Json());
    const bool is_default = absl::StrContains(LimitReference(limit), "\": " + found.dump());
    EXPECT_TRUE(is_default) << "limits of config/reference.json lacks this:\n"
                            << LimitReference(limit);
  }
}

}  // namespace
}  // namespace mpsd
