#include "client/manual/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpsd::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandTable, IsWhatTheParserTakes) {
  CLI::App app("serves", "mpsd");
  CLI::App* verb = app.add_subcommand("cook", "cook a meal");
  std::string heat = "low";
  std::string meal;
  std::vector<std::string> guests;
  int minutes = 0;
  bool quick = false;
  verb->add_option("MEAL", meal, "what")->required()->type_name(kFileValue);
  verb->add_option("--heat", heat, "how hot")
      ->check(CLI::IsMember({"low", "high"}))
      ->envname("HEAT")
      ->capture_default_str();
  verb->add_option("--guest", guests, "who eats");
  verb->add_option("--minutes", minutes, "how long")->check(CLI::Range(1, 9));
  verb->add_flag("-q,--quick", quick, "fast");
  verb->footer("Examples:\nmpsd cook soup");

  const CommandTable table = TableOf(app);
  EXPECT_EQ(table.program.name, "mpsd");
  ASSERT_NE(FindVerb(table, "cook"), nullptr);
  EXPECT_EQ(FindVerb(table, "bake"), nullptr);
  const VerbRow& cook = table.verbs[0];
  EXPECT_EQ(cook.footer, "Examples:\nmpsd cook soup");
  ASSERT_EQ(cook.words.size(), 1U);
  EXPECT_THAT(cook.words[0].names, ElementsAre("MEAL"));
  EXPECT_EQ(cook.words[0].value, kFileValue);
  EXPECT_TRUE(cook.words[0].required);
  ASSERT_EQ(cook.flags.size(), 5U);  // the first is --help
  const FlagRow& heat_row = cook.flags[1];
  EXPECT_THAT(heat_row.names, ElementsAre("--heat"));
  EXPECT_THAT(heat_row.choices, testing::UnorderedElementsAre("low", "high"));
  EXPECT_FALSE(heat_row.other_values);
  EXPECT_EQ(heat_row.default_value, "low");
  EXPECT_EQ(heat_row.environment, "HEAT");
  EXPECT_FALSE(heat_row.repeated);
  EXPECT_TRUE(cook.flags[2].repeated);
  EXPECT_EQ(cook.flags[3].value, "NUMBER");
  EXPECT_THAT(cook.flags[3].choices, IsEmpty());
  EXPECT_THAT(cook.flags[4].names, ElementsAre("-q", "--quick"));
  EXPECT_EQ(cook.flags[4].value, "");
}

TEST(CommandTable, AVerbAsAWordHasAllVerbsAsItsValues) {
  CLI::App app("serves", "mpsd");
  app.add_subcommand("help", "explain")->add_option("VERB")->type_name(kVerbValue);
  app.add_subcommand("cook", "cook a meal");
  EXPECT_THAT(TableOf(app).verbs[0].words[0].choices, ElementsAre("help", "cook"));
}

}  // namespace
}  // namespace mpsd::cli
