#include "server/operate/logs_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;

LogsOptions Following() {
  LogsOptions options;
  options.lines = 7;
  options.follow = true;
  return options;
}

TEST(LogCommand, TheConfigsFileComesFirst) {
  LogPlaces places;
  places.file = "/var/log/mpsd.log";
  places.in_journal = true;
  places.service_files = {"/usr/local/var/log/mpsd.log"};
  EXPECT_THAT(*LogCommand(places, {}), ElementsAre("tail", "-n", "100", "/var/log/mpsd.log"));
  EXPECT_THAT(*LogCommand(places, Following()),
              ElementsAre("tail", "-n", "7", "-F", "/var/log/mpsd.log"));
}

TEST(LogCommand, ThenTheJournal) {
  LogPlaces places;
  places.in_journal = true;
  EXPECT_THAT(*LogCommand(places, {}),
              ElementsAre("journalctl", "-u", "mpsd", "-o", "cat", "-n", "100", "--no-pager"));
  EXPECT_EQ(LogCommand(places, Following())->back(), "-f");
}

TEST(LogCommand, ThenAFileOfLaunchd) {
  LogPlaces places;
  places.service_files = {"/opt/homebrew/var/log/mpsd.log"};
  EXPECT_EQ(LogCommand(places, {})->back(), "/opt/homebrew/var/log/mpsd.log");
}

TEST(LogCommand, ATerminalKeepsNoLog) {
  const absl::Status status = LogCommand({}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("log.file"));
}

}  // namespace
}  // namespace mpsd
