#include "server/models/reload/hub_puller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "proto/base/units.h"

namespace mpsd {
namespace {

constexpr size_t kMostLineBytes = 4096;

uint64_t NumberAt(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string TextAt(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

void HubPuller::Start(std::string program, PullEvents events) {
  program_ = std::move(program);
  events_ = std::move(events);
  thread_ = std::thread([this] { Main(); });
}

void HubPuller::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

bool HubPuller::MayGoOn(const std::string& source) const {
  absl::MutexLock lock(&mu_);
  return !stopping_ && pulls_.count(source) > 0;
}

void HubPuller::Want(const std::vector<std::string>& sources) {
  absl::MutexLock lock(&mu_);
  for (auto& [source, pull] : pulls_) pull.is_wanted = false;
  for (const std::string& source : sources) {
    Pull& pull = pulls_[source];
    pull.sample.source = source;
    pull.is_wanted = true;
    if (std::exchange(pull.is_taken, false)) pull.folder = "";
    pull.next_try_ns = 0;
    pull.is_asked_for = true;
  }
  std::erase_if(pulls_, [](const auto& entry) {
    return !entry.second.is_wanted && entry.second.folder.empty();
  });
}

std::string HubPuller::TakeFolder(const std::string& source) {
  absl::MutexLock lock(&mu_);
  const auto found = pulls_.find(source);
  if (found == pulls_.end() || found->second.folder.empty()) return "";
  found->second.is_taken = true;
  return found->second.folder;
}

std::string HubPuller::Text(const std::string& source) const {
  absl::MutexLock lock(&mu_);
  const auto found = pulls_.find(source);
  if (found == pulls_.end()) return absl::StrCat("waits for ", source);
  const Pull& pull = found->second;
  if (!pull.fault.empty()) return absl::StrCat("cannot fetch it: ", pull.fault);
  if (pull.sample.expected_bytes == 0) return absl::StrCat("waits for ", source);
  return absl::StrCat("fetches ", source, ": ", BytesText(pull.sample.bytes), " of ",
                      BytesText(pull.sample.expected_bytes));
}

std::vector<PullSample> HubPuller::Samples() const {
  std::vector<PullSample> samples;
  absl::MutexLock lock(&mu_);
  for (const auto& [source, pull] : pulls_) samples.push_back(pull.sample);
  return samples;
}

// Waits for a source's turn; empty once the puller stops.
std::string HubPuller::TakeNext() {
  absl::MutexLock lock(&mu_);
  for (;;) {
    if (stopping_) return "";
    const int64_t now_ns = Clock::Real()->NowNs();
    int64_t first_ns = INT64_MAX;
    for (auto& [source, pull] : pulls_) {
      if (pull.TurnNs() <= now_ns) {
        pull.is_asked_for = false;
        return source;
      }
      first_ns = std::min(first_ns, pull.TurnNs());
    }
    const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      const auto is_new = [](const auto& entry) { return entry.second.TurnNs() == 0; };
      return stopping_ || std::any_of(pulls_.begin(), pulls_.end(), is_new);
    };
    mu_.AwaitWithTimeout(absl::Condition(&has_work), absl::Nanoseconds(first_ns - now_ns));
  }
}

void HubPuller::Main() {
  platform::NameThread("puller");
  for (std::string source = TakeNext(); !source.empty(); source = TakeNext()) PullOnce(source);
}

void HubPuller::PullOnce(const std::string& source) {
  logger_->Log(LogLevel::kInfo, "pull_begun", {{"source", source}});
  std::string unread;
  std::string words = "it ended without a word";
  const auto ended = RunChild(program_, {"pull", "--json", source}, [&](std::string_view piece) {
    unread += piece;
    for (size_t end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
      const std::string line = TakeLine(source, std::string_view(unread).substr(0, end));
      if (!line.empty()) words = line;
      unread.erase(0, end + 1);
    }
    if (unread.size() > kMostLineBytes) unread.clear();
    return MayGoOn(source);
  });
  if (absl::IsAborted(ended.status()) || !MayGoOn(source)) return;
  if (!ended.ok()) words = std::string(ended.status().message());
  if (IsHere(source)) {
    logger_->Log(LogLevel::kInfo, "pulled", {{"source", source}});
    return events_.pulled();
  }
  metrics_->pull_failures.fetch_add(1);
  logger_->Log(LogLevel::kError, "not_pulled", {{"source", source}, {"reason", words}});
  NoteFault(source, words);
  events_.moves();
}

bool HubPuller::IsHere(const std::string& source) const {
  absl::MutexLock lock(&mu_);
  const auto found = pulls_.find(source);
  return found != pulls_.end() && !found->second.folder.empty();
}

void HubPuller::NoteFault(const std::string& source, const std::string& fault) {
  absl::MutexLock lock(&mu_);
  const auto found = pulls_.find(source);
  if (found == pulls_.end()) return;
  found->second.fault = fault;
  if (!found->second.is_asked_for) found->second.next_try_ns = Clock::Real()->NowNs() + kRetryNs;
}

std::string HubPuller::TakeLine(const std::string& source, std::string_view line) {
  const auto event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object())
    return std::string(absl::StripPrefix({line.data(), line.size()}, "mpsd: "));
  const std::string kind = TextAt(event, "event");
  if (kind == "waits") return TextAt(event, "text");
  {
    absl::MutexLock lock(&mu_);
    const auto found = pulls_.find(source);
    if (found == pulls_.end()) return "";
    Pull& pull = found->second;
    const bool is_done = kind == "done";
    pull.sample.expected_bytes = NumberAt(event, "bytes");
    pull.sample.bytes = is_done ? pull.sample.expected_bytes : NumberAt(event, "done");
    if (is_done) pull.folder = TextAt(event, "path");
    pull.fault = "";
  }
  events_.moves();
  return "";
}

}  // namespace mpsd
