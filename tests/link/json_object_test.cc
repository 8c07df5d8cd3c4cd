#include "proto/link/json_object.h"

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> kWords = {"name", "max_delay", "id"};

std::string Nearest(std::string_view text) { return DidYouMean(text, kWords, "there are"); }

TEST(DidYouMean, FindsTheWordThatIsALetterAway) {
  const std::string name = "; did you mean 'name'?";
  EXPECT_EQ(Nearest("xname"), name);  // one too many, at either end and within
  EXPECT_EQ(Nearest("namex"), name);
  EXPECT_EQ(Nearest("naxme"), name);
  EXPECT_EQ(Nearest("ame"), name);  // one too few
  EXPECT_EQ(Nearest("nam"), name);
  EXPECT_EQ(Nearest("nabe"), name);  // one changed
  EXPECT_EQ(Nearest("xid"), "; did you mean 'id'?");
  EXPECT_EQ(Nearest("xxid"), "; there are name, max_delay, id");
}

TEST(DidYouMean, IsTheFirstOfTwoWordsThatAreAsNear) {
  constexpr std::array<std::string_view, 2> kAlike = {"load", "lord"};
  EXPECT_EQ(DidYouMean("lod", kAlike, "there are"), "; did you mean 'load'?");
}

TEST(DidYouMean, LongerWordsMayBeFurtherAway) {
  EXPECT_EQ(Nearest("max_dleay"), "; did you mean 'max_delay'?");
  EXPECT_EQ(Nearest("maximum_delay"), "; did you mean 'max_delay'?");
  EXPECT_EQ(Nearest("minimum_delays"), "; there are name, max_delay, id");
}

TEST(DidYouMean, IsNeverAWordThatSharesNothing) {
  EXPECT_EQ(Nearest(""), "; there are name, max_delay, id");
  EXPECT_EQ(Nearest("zz"), "; there are name, max_delay, id");
  EXPECT_EQ(Nearest(std::string(10'000, 'n')), "; there are name, max_delay, id");
}

TEST(JsonPath, IsOnePrintableLine) {
  EXPECT_EQ(JsonPath("", "a_1-b"), "a_1-b");
  EXPECT_EQ(JsonPath(JsonPath("models", 3), "name"), "models[3].name");
  EXPECT_EQ(JsonPath("a", "b.c"), "a['b.c']");
  EXPECT_EQ(JsonPath("a", "\n'"), "a['\\n\\'']");
  EXPECT_EQ(JsonPath("", std::string(129, 'x')), "['" + std::string(128, 'x') + "…']");
}

TEST(JsonText, IsShort) {
  EXPECT_EQ(JsonText(1.5), "1.5");
  EXPECT_EQ(JsonText(nullptr), "null");
  EXPECT_EQ(JsonText(Json::object()), "an object");
  EXPECT_EQ(JsonText("a\nb"), "'a\\nb'");
  EXPECT_EQ(JsonText(std::string(41, 'x')), "'" + std::string(40, 'x') + "…'");
}

// A letter of several bytes is shown whole or not at all.
TEST(JsonText, CutsBetweenLetters) {
  EXPECT_EQ(JsonText(std::string(39, 'x') + "ää"), "'" + std::string(39, 'x') + "…'");
}

TEST(JsonObject, LeavesValuesAloneThatItRefuses) {
  const Json json = {{"name", 1}, {"id", -1}, {"max_delay", "1"}};
  JsonErrors errors;
  const JsonObject object(json, "at", kWords, &errors);
  std::string name = "before";
  uint32_t id = 7;
  int64_t max_delay = 8;
  object.Get("name", &name);
  object.Get("id", 0, 9, &id);
  object.GetDuration("max_delay", INT64_MAX, &max_delay);
  EXPECT_EQ(name, "before");
  EXPECT_EQ(id, 7U);
  EXPECT_EQ(max_delay, 8);
  ASSERT_EQ(errors.errors().size(), 3U);
  EXPECT_EQ(errors.errors()[0].path, "at.name");
}

TEST(JsonObject, ReadsAsEmptyWhenItIsNone) {
  const Json json = 7;
  JsonErrors errors;
  const JsonObject object(json, "at", kWords, &errors);
  object.Require("name");
  EXPECT_EQ(object.Find("name"), nullptr);
  EXPECT_EQ(errors.ToStatus(), absl::InvalidArgumentError("at: must be an object, not a number"));
}

TEST(JsonObject, AKeyOfAnInnerObjectIsToldToBelongThere) {
  constexpr std::array<std::string_view, 2> kInnerKeys = {"size", "names"};
  const std::array<JsonObject::Inner, 1> kInner = {{{"in", kInnerKeys}}};
  const auto error = [&kInner](const char* key) {
    JsonErrors errors;
    const Json json = {{key, 1}};
    const JsonObject object(json, "", kWords, &errors, kInner);
    return errors.errors()[0].what;
  };
  EXPECT_EQ(error("size"), "unknown key; did you mean 'in.size'?");
  EXPECT_EQ(error("siez"), "unknown key; did you mean 'in.size'?");
  EXPECT_EQ(error("names"), "unknown key; did you mean 'in.names'?");
  EXPECT_EQ(error("namee"), "unknown key; did you mean 'name'?");  // near both: nearer is this
  EXPECT_EQ(error("zzz"), "unknown key; the keys here are name, max_delay, id");
}

TEST(JsonObjectDeathTest, IsAskedOnlyForKeysThatItKnows) {
  const Json json = Json::object();
  JsonErrors errors;
  const JsonObject object(json, "", kWords, &errors);
  EXPECT_DEATH(object.Find("nam"), "check failed: Knows");
}

}  // namespace
}  // namespace mpsd
