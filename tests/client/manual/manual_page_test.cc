#include "client/manual/manual_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const PageFacts kFacts = {"1.2.3", "2026-01-31"};

VerbRow CookVerb() {
  VerbRow verb;
  verb.name = "cook";
  verb.help = "cook a meal";
  verb.flags = {{.names = {"-h", "--help"}, .help = "explain"},
                {.names = {"--heat"},
                 .value = "TEXT",
                 .choices = {"low", "high"},
                 .other_values = false,
                 .help = "how hot",
                 .default_value = "low",
                 .environment = "HEAT"}};
  verb.words = {{.names = {"MEAL"}, .value = "TEXT", .help = "what to cook", .required = true},
                {.names = {"GUEST"}, .value = "TEXT", .help = "who eats", .repeated = true}};
  verb.footer = "Examples:\nmpsd cook soup\nmpsd cook 'a pie'";
  return verb;
}

TEST(VerbPage, HasWordsFlagsAndExamples) {
  const std::string page = VerbPage(CookVerb(), kFacts);
  EXPECT_THAT(page, StartsWith(".TH MPSD\\-COOK 1 2026-01-31 \"mpsd 1.2.3\" mpsd\n.SH NAME\n"
                               "mpsd\\-cook \\- cook a meal\n"));
  EXPECT_THAT(page, HasSubstr("\\fBmpsd cook\\fR [\\fIOPTIONS\\fR] \\fIMEAL\\fR [\\fIGUEST\\fR "
                              "...]\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nexplain.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-heat\\fR \\fITEXT\\fR\nhow hot; one of: low, high; "
                              "default: low; environment: HEAT.\n"));
  EXPECT_THAT(page,
              HasSubstr(".SH EXAMPLES\n.nf\nmpsd cook soup\nmpsd cook \\(aqa pie\\(aq\n.fi\n"));
}

TEST(VerbPage, NoLineOfATextIsAMacro) {
  VerbRow verb = CookVerb();
  verb.help = ".so /etc/passwd";
  verb.footer = "Examples:\na\n.so a\n'so b\n\\fBbold";
  const std::string page = VerbPage(verb, kFacts);
  EXPECT_THAT(page, Not(HasSubstr("\n.so")));
  EXPECT_THAT(page, Not(HasSubstr("\n'so")));
  EXPECT_THAT(page, HasSubstr("\n\\efBbold\n"));
}

TEST(ProgramPage, NamesEachVerbAndItsPage) {
  CommandTable table;
  table.program = {.name = "mpsd", .help = "serves", .footer = "Exit codes: 0 ok, 1 not."};
  table.verbs = {CookVerb()};
  const std::string page = ProgramPage(table, kFacts);
  EXPECT_THAT(page, HasSubstr(".SH EXIT CODES\n0 ok, 1 not.\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fBcook\\fR\ncook a meal.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBmpsd\\-cook\\fR(1)"));
}

TEST(ConfigPage, SaysTypeBoundsAndDefaultOfEachKey) {
  const std::string page = ConfigPage(R"json({
      "properties": {
        "log": {"description": "The log.", "type": "object", "properties": {
          "level": {"description": "How much.", "enum": ["info", "warn"], "default": "info"},
          "file": {"type": "string", "default": ""}}},
        "calls": {"description": "Calls.", "type": "integer", "minimum": 1, "maximum": 9},
        "wait": {"type": "string", "pattern": "^(0|[0-9]+ ?(ns|us|ms|s|m|h))$"},
        "room": {"anyOf": [{"pattern": "(B|KiB)"}, {"const": "auto"}]},
        "at": {"type": "array", "items": {"$ref": "#/$defs/place"}}},
      "$defs": {"place": {"type": "object", "properties": {"name": {"type": "string"}}}}})json",
                                      kFacts);
  EXPECT_THAT(page, HasSubstr("\\fBlog\\fR\nThe log. Type: object.\n"));
  EXPECT_THAT(page,
              HasSubstr("\\fBlog.level\\fR\nHow much. Type: one of info, warn. Default: info.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBlog.file\\fR\nType: text. Default: \"\".\n"));
  EXPECT_THAT(page, HasSubstr("\\fBcalls\\fR\nCalls. Type: number from 1 to 9.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBwait\\fR\nType: duration.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBroom\\fR\nType: size, or \"auto\".\n"));
  EXPECT_THAT(page, HasSubstr("\\fBat\\fR\nType: list of object.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBat[].name\\fR\nType: text.\n"));
}

}  // namespace
}  // namespace mpsd::cli
