#include "proto/base/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mpsd {
namespace {

constexpr char kVariable[] = "MPSD_FAILPOINTS";
constexpr char kSeedVariable[] = "MPSD_FAILPOINTS_SEED";
constexpr char kSpareVariable[] = "MPSD_FAILPOINTS_SPARE";
constexpr int64_t kDefaultExitCode = 42;
constexpr int64_t kMaxSleepMs = 60'000;

struct NamedAction {
  const char* name;
  FailpointAction action;
};
constexpr NamedAction kActions[] = {
    {"kill", FailpointAction::kKill},   {"stop", FailpointAction::kStop},
    {"exit", FailpointAction::kExit},   {"sleep", FailpointAction::kSleep},
    {"errno", FailpointAction::kErrno}, {"corrupt", FailpointAction::kCorrupt}};

struct NamedErrno {
  const char* name;
  int number;
};
constexpr NamedErrno kErrnos[] = {
    {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}, {"EIO", EIO}};

// This is splitmix64.
uint64_t Mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15ULL;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9ULL;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebULL;
  return number ^ (number >> 31);
}

bool ParseAction(absl::string_view text, FailpointAction* action) {
  for (const NamedAction& named : kActions) {
    if (text != named.name) continue;
    *action = named.action;
    return true;
  }
  return false;
}

bool ParseArgument(FailpointAction action, absl::string_view text, int64_t* argument) {
  if (action == FailpointAction::kErrno) {
    for (const NamedErrno& named : kErrnos) {
      if (text == named.name) *argument = named.number;
    }
  }
  if (*argument != 0 && action == FailpointAction::kErrno) return true;
  if (action == FailpointAction::kExit && text.empty()) {
    *argument = kDefaultExitCode;
    return true;
  }
  const bool takes_one = action == FailpointAction::kExit || action == FailpointAction::kSleep ||
                         action == FailpointAction::kErrno;
  if (!takes_one) return text.empty();
  return absl::SimpleAtoi(text, argument) && *argument >= 0 && *argument <= kMaxSleepMs;
}

const char* ActionName(FailpointAction action) {
  return kActions[static_cast<size_t>(action)].name;
}

uint64_t SeedFromEnvironment() {
  const char* text = std::getenv(kSeedVariable);
  uint64_t seed = 1;
  if (text != nullptr && !absl::SimpleAtoi(text, &seed)) {
    std::fprintf(stderr, "%s is no number\n", kSeedVariable);
    std::abort();
  }
  return seed;
}

// Exits when the text is wrong: a test that arms a missing failpoint must not pass.
std::unique_ptr<FailpointTable> FromEnvironment() {
  const char* text = std::getenv(kVariable);
  auto table = FailpointTable::Parse(text == nullptr ? "" : text, SeedFromEnvironment());
  if (table.ok()) return *std::move(table);
  std::fprintf(stderr, "%s: %s\n", kVariable, std::string(table.status().message()).c_str());
  std::abort();
}

// Writes at once, so that the line is complete even if the process ends.
void Say(const char* name, const FailpointAct& act) {
  const std::string line =
      absl::StrCat("failpoint ", name, ": ", ActionName(act.action), " at pass ", act.pass, "\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

struct FailpointTable::Entry {
  std::string name;
  FailpointAct act;
  uint64_t only_pass = 0;  // 0: any
  double percent = 100;
  std::atomic<uint64_t> passes{0};
  std::atomic<bool> acted{false};
};

FailpointTable::FailpointTable(uint64_t seed) : seed_(seed) {}
FailpointTable::~FailpointTable() = default;

absl::StatusOr<std::unique_ptr<FailpointTable>> FailpointTable::Parse(absl::string_view text,
                                                                      uint64_t seed) {
  std::unique_ptr<FailpointTable> table(new FailpointTable(seed));
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    part = absl::StripAsciiWhitespace(part);
    auto entry = std::make_unique<Entry>();
    const std::pair<absl::string_view, absl::string_view> sides =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    absl::string_view what = sides.second;
    bool good = !sides.first.empty();
    if (const size_t at = what.find_first_of("@%"); at != absl::string_view::npos) {
      const absl::string_view when = what.substr(at + 1);
      good = good &&
             (what[at] == '@' ? absl::SimpleAtoi(when, &entry->only_pass) && entry->only_pass > 0
                              : absl::SimpleAtod(when, &entry->percent) && entry->percent > 0);
      what = what.substr(0, at);
    }
    const std::pair<absl::string_view, absl::string_view> words =
        absl::StrSplit(what, absl::MaxSplits(':', 1));
    good = good && ParseAction(words.first, &entry->act.action) &&
           ParseArgument(entry->act.action, words.second, &entry->act.argument);
    if (!good) return absl::InvalidArgumentError(absl::StrCat("'", part, "' is no failpoint"));
    entry->name = std::string(sides.first);
    table->entries_.push_back(std::move(entry));
  }
  return table;
}

std::optional<FailpointAct> FailpointTable::Pass(absl::string_view name) {
  std::optional<FailpointAct> chosen;
  for (const std::unique_ptr<Entry>& entry : entries_) {
    if (entry->name != name) continue;
    FailpointAct act = entry->act;
    // Each entry counts every pass, even if an earlier entry acts.
    act.pass = entry->passes.fetch_add(1, std::memory_order_relaxed) + 1;
    if (chosen.has_value()) continue;
    if (entry->only_pass != 0 && entry->only_pass != act.pass) continue;
    const uint64_t draw = Mix(seed_ ^ Mix(act.pass) ^ Mix(name.size() + entry->act.argument));
    if (static_cast<double>(draw % 1'000'000) >= entry->percent * 10'000) continue;
    act.first = !entry->acted.exchange(true, std::memory_order_relaxed);
    if (act.action == FailpointAction::kCorrupt) act.argument = static_cast<int64_t>(Mix(draw));
    chosen = act;
  }
  return chosen;
}

std::string FailpointTable::WorkerPart(absl::string_view text) {
  std::vector<absl::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    if (absl::StartsWith(absl::StripAsciiWhitespace(part), "worker.")) parts.push_back(part);
  }
  return absl::StrJoin(parts, ",");
}

void CorruptBytes(uint64_t random, void* data, size_t bytes) {
  if (bytes == 0) return;
  auto* target = static_cast<unsigned char*>(data);
  for (size_t i = 0; i < (bytes + 7) / 8; ++i) {
    random = Mix(random);
    // A corruption that changes nothing proves nothing.
    const auto flip = static_cast<unsigned char>(random >> 32);
    target[random % bytes] ^= flip == 0 ? 0xFF : flip;
  }
}

int HitFailpoint(const char* name, void* data, size_t bytes) {
  // A thread may pass a failpoint while the process ends.
  static FailpointTable* const table = FromEnvironment().release();
  const std::optional<FailpointAct> act = table->Pass(name);
  if (!act.has_value()) return 0;
  if (act->action == FailpointAction::kCorrupt && bytes == 0) return 0;
  const bool tell = act->action != FailpointAction::kSleep || act->first;
  if (tell) Say(name, *act);
  switch (act->action) {
    case FailpointAction::kKill:
      raise(SIGKILL);
      break;
    case FailpointAction::kStop:
      raise(SIGSTOP);
      break;
    case FailpointAction::kExit:
      _exit(static_cast<int>(act->argument));
    case FailpointAction::kSleep:
      std::this_thread::sleep_for(std::chrono::milliseconds(act->argument));
      break;
    case FailpointAction::kErrno:
      return static_cast<int>(act->argument);
    case FailpointAction::kCorrupt:
      CorruptBytes(static_cast<uint64_t>(act->argument), data, bytes);
      break;
  }
  return 0;
}

void AddWorkerFailpoints(absl::string_view model,
                         std::vector<std::pair<std::string, std::string>>* environment) {
  static std::atomic<uint64_t> spawned{0};
  const char* spare = std::getenv(kSpareVariable);
  const char* text = spare != nullptr && model == spare ? nullptr : std::getenv(kVariable);
  environment->emplace_back(kVariable, FailpointTable::WorkerPart(text == nullptr ? "" : text));
  environment->emplace_back(kSeedVariable,
                            absl::StrCat(Mix(SeedFromEnvironment() + spawned.fetch_add(1))));
}

}  // namespace mpsd
