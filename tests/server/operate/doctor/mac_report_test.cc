#include "server/operate/doctor/mac_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

TEST(MacReport, HasEachPartAndNamesWhatIsNotThere) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/mac_report_test.", getpid());
  std::filesystem::create_directory(folder);
  const std::string program = absl::StrCat(folder, "/mpsd");
  std::ofstream(program) << "#!/bin/sh\necho \"said for $*\"\n";
  chmod(program.c_str(), 0700);
  const std::string bars = absl::StrCat(folder, "/bars.json");
  EXPECT_THAT(MacReportText(program, bars),
              HasSubstr(absl::StrCat("\n== ", bars, "\nnot there: ")));
  std::ofstream(bars) << "{\"bars\": []}\n";
  const std::string text = MacReportText(program, bars);
  EXPECT_THAT(text, HasSubstr("\n== /usr/bin/sw_vers \n"));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\n== ", program, " ps\nsaid for ps\n")));
  EXPECT_THAT(text, HasSubstr("\nsaid for ps --json\n"));
  EXPECT_THAT(text, HasSubstr("\nsaid for logs --lines 200\n"));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\n== ", bars, "\n{\"bars\": []}\n")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mpsd
