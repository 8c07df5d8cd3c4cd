#include "client/traffic/process_usage.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mpsd::traffic {
namespace {

absl::Status ReadTimes(const std::string& folder, ProcessUsage* usage) {
  std::ifstream file(folder + "/stat");
  std::string text;
  if (!std::getline(file, text)) return absl::NotFoundError(absl::StrCat("no process ", folder));
  // Field 2, the name, may hold anything, but ends with the last parenthesis.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  int64_t user_ticks = 0;
  int64_t system_ticks = 0;
  if (!(fields >> user_ticks >> system_ticks)) {
    return absl::InternalError(absl::StrCat("unreadable ", folder, "/stat"));
  }
  const int64_t tick_us = 1'000'000 / sysconf(_SC_CLK_TCK);
  usage->user_us = user_ticks * tick_us;
  usage->system_us = system_ticks * tick_us;
  return absl::OkStatus();
}

void AddSwitches(const std::string& status_file, ProcessUsage* usage) {
  std::ifstream file(status_file);
  std::string key;
  while (file >> key) {
    uint64_t value = 0;
    if (key == "voluntary_ctxt_switches:" && file >> value) usage->voluntary_switches += value;
    if (key == "nonvoluntary_ctxt_switches:" && file >> value) usage->involuntary_switches += value;
  }
}

}  // namespace

absl::StatusOr<ProcessUsage> ReadProcessUsage(pid_t pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  ProcessUsage usage;
  if (absl::Status status = ReadTimes(folder, &usage); !status.ok()) return status;
  const std::string tasks = folder + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(tasks.c_str()), closedir);
  while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    AddSwitches(absl::StrCat(tasks, "/", entry->d_name, "/status"), &usage);
  }
  return usage;
}

}  // namespace mpsd::traffic
