#include "server/operate/doctor/mac_checklist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

// The row as docs/macos.md has it: a bar inside a cell is escaped there.
std::string RowOf(size_t number, const MacCheck& check) {
  const auto cell = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"|", "\\|"}});
  };
  return absl::StrCat("| ", number, " | ", cell(check.command), " | ", cell(check.must_print),
                      " |\n");
}

TEST(MacChecklist, IsTheTableOfThePage) {
  const absl::StatusOr<std::string> page = ReadWholeFile(MPSD_MAC_PAGE, 1 << 20);
  ASSERT_TRUE(page.ok()) << page.status();
  std::string table;
  for (const MacCheck& check : MacChecklist()) {
    table += RowOf(1 + std::count(table.begin(), table.end(), '\n'), check);
  }
  const size_t heading = page->find("\n## First contact\n");
  ASSERT_NE(heading, std::string::npos);
  const size_t first = page->find("\n| 1 |", heading);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(page->substr(first + 1), table);
}

// More belong on a machine without a gpu.
TEST(MacChecklist, HasAtMostTenChecks) { EXPECT_LE(MacChecklist().size(), 10u); }

TEST(MacChecklist, NumbersItsChecksForATerminal) {
  const std::string text = MacChecklistText();
  EXPECT_THAT(text, testing::StartsWith("1. `./run serve` on a fresh clone\n   must print: "));
  EXPECT_THAT(text, testing::HasSubstr(absl::StrCat("\n", MacChecklist().size(), ". ")));
  EXPECT_THAT(text, testing::EndsWith("`mpsd doctor --mac-report mac.txt` writes.\n"));
}

}  // namespace
}  // namespace mpsd
