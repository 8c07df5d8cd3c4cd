#include "client/hub/hub_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hub/hub_transfer.h"
#include "proto/base/check.h"

namespace mpsd::hub {
namespace {

constexpr uint64_t kMostListingBytes = 16 << 20;
constexpr uint64_t kPartBytes = 8 << 20;
constexpr size_t kConnections = 4;
constexpr int kMostTries = 5;  // without a byte between
constexpr int kPollMs = 100;
constexpr absl::Duration kFirstWait = absl::Seconds(1);
constexpr absl::Duration kLongestWait = absl::Minutes(2);

// A file's parts in order. Some run at once.
class Window {
 public:
  // With `waits_for_hub` tries again to connect.
  Window(std::string model, bool waits_for_hub, std::function<void(const std::string&)> say)
      : model_(std::move(model)),
        waits_for_hub_(waits_for_hub),
        say_(std::move(say)),
        multi_(curl_multi_init()) {
    MPSD_CHECK(multi_ != nullptr);
  }

  ~Window() {
    for (const Slot& slot : slots_) {
      if (slot.runs) curl_multi_remove_handle(multi_, slot.transfer->handle());
    }
    slots_.clear();
    curl_multi_cleanup(multi_);
  }

  size_t size() const { return slots_.size(); }
  HubTransfer& front() { return *slots_.front().transfer; }
  bool front_is_whole() const { return slots_.front().is_whole; }
  void PopFront() { slots_.pop_front(); }

  uint64_t arrived() const {
    uint64_t bytes = 0;
    for (const Slot& slot : slots_) bytes += slot.transfer->arrived();
    return bytes;
  }

  void Add(std::unique_ptr<HubTransfer> transfer) {
    slots_.push_back({std::move(transfer)});
    Begin(&slots_.back());
  }

  // Works for a moment. An error that no further try can mend ends the window.
  absl::Status Run() {
    for (Slot& slot : slots_) {
      if (!slot.runs && !slot.is_whole && absl::Now() >= slot.again_at) Begin(&slot);
    }
    int running = 0;
    curl_multi_perform(multi_, &running);
    const absl::StatusOr<bool> has_ended = Collect();
    if (!has_ended.ok()) return has_ended.status();
    // The caller takes what ended, and adds the next part.
    if (!*has_ended) curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    return absl::OkStatus();
  }

 private:
  struct Slot {
    std::unique_ptr<HubTransfer> transfer;
    bool runs = false;
    bool is_whole = false;
    int tries = 0;
    absl::Time again_at = absl::InfinitePast();
  };

  void Begin(Slot* slot) {
    slot->transfer->Prepare();
    slot->runs = true;
    curl_multi_add_handle(multi_, slot->transfer->handle());
  }

  // Whether a transfer has ended.
  absl::StatusOr<bool> Collect() {
    bool has_ended = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode result = message->data.result;
      const auto slot =
          std::find_if(slots_.begin(), slots_.end(), [message](const Slot& candidate) {
            return candidate.transfer->handle() == message->easy_handle;
          });
      MPSD_CHECK(slot != slots_.end());
      curl_multi_remove_handle(multi_, slot->transfer->handle());
      slot->runs = false;
      if (absl::Status status = Ended(&*slot, result); !status.ok()) return status;
      has_ended = true;
    }
    return has_ended;
  }

  absl::Status Ended(Slot* slot, CURLcode result) {
    HubTransfer& transfer = *slot->transfer;
    switch (transfer.Judge(result, model_)) {
      case HubTransfer::Outcome::kWhole:
        slot->is_whole = true;
        return absl::OkStatus();
      case HubTransfer::Outcome::kNever:
        return transfer.fault();
      case HubTransfer::Outcome::kTryAgain:
        break;
    }
    const bool connects = result != CURLE_COULDNT_CONNECT && result != CURLE_COULDNT_RESOLVE_HOST;
    if (!connects && !waits_for_hub_) return transfer.fault();
    slot->tries = transfer.went_forward() ? 1 : slot->tries + 1;
    const absl::Duration wait =
        std::max(absl::Seconds(transfer.retry_after_s()), kFirstWait * (1 << (slot->tries - 1)));
    if (slot->tries >= kMostTries || wait > kLongestWait) return transfer.fault();
    say_(absl::StrCat(transfer.fault().message(), "; the next try is in ",
                      absl::FormatDuration(wait)));
    slot->again_at = absl::Now() + wait;
    return absl::OkStatus();
  }

  const std::string model_;
  const bool waits_for_hub_;
  const std::function<void(const std::string&)> say_;
  CURLM* const multi_;
  std::deque<Slot> slots_;
};

// `kept` letters stay, and the letters of any path.
std::string Encoded(absl::string_view text, absl::string_view kept) {
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (absl::ascii_isalnum(byte) || absl::StrContains("._-", letter) ||
        absl::StrContains(kept, letter)) {
      encoded.push_back(letter);
    } else {
      absl::StrAppend(&encoded, "%",
                      absl::AsciiStrToUpper(absl::StrCat(absl::Hex(byte, absl::kZeroPad2))));
    }
  }
  return encoded;
}

}  // namespace

HubClient::HubClient(HubSettings settings, PiecePool* pool,
                     std::function<void(const std::string&)> say)
    : settings_(std::move(settings)), pool_(pool), say_(std::move(say)) {
  static std::once_flag once;
  std::call_once(once, [] { MPSD_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
}

HubClient::~HubClient() = default;

absl::StatusOr<HubListing> HubClient::List(const HubName& name) {
  // A branch may have slashes, which the hub wants encoded.
  const std::string url =
      absl::StrCat(settings_.endpoint, "/api/models/", name.Repository(), "/revision/",
                   Encoded(name.revision, /*kept=*/""), "?blobs=true");
  Window window(name.Repository(), /*waits_for_hub=*/false, say_);
  window.Add(std::make_unique<HubTransfer>(
      settings_, url,
      HubTransfer::Part{0, kMostListingBytes, /*is_exact=*/false, /*is_whole=*/true}, pool_));
  while (!window.front_is_whole()) {
    if (absl::Status status = window.Run(); !status.ok()) return status;
  }
  std::string listing;
  while (window.front().HasPiece()) absl::StrAppend(&listing, window.front().Take());
  return ReadListing(listing);
}

absl::Status HubClient::Fetch(const HubName& name, const std::string& commit, const HubFile& file,
                              uint64_t from, bool in_parts,
                              const std::function<absl::Status(std::string)>& take,
                              const std::function<void(uint64_t)>& arrived) {
  const std::string url = absl::StrCat(settings_.endpoint, "/", name.Repository(), "/resolve/",
                                       commit, "/", Encoded(file.path, /*kept=*/"/"));
  MPSD_CHECK(in_parts || from == 0);
  const uint64_t part_bytes = in_parts ? kPartBytes : file.bytes;
  const bool is_whole = from == 0 && file.bytes <= part_bytes;
  Window window(name.Repository(), /*waits_for_hub=*/true, say_);
  uint64_t next = from;  // where the next part begins
  uint64_t left = from;  // where the first part that is left begins
  while (left < file.bytes) {
    while (window.size() < kConnections && next < file.bytes) {
      const uint64_t bytes = std::min(part_bytes, file.bytes - next);
      window.Add(std::make_unique<HubTransfer>(
          settings_, url, HubTransfer::Part{next, bytes, /*is_exact=*/true, is_whole}, pool_));
      next += bytes;
    }
    if (absl::Status status = window.Run(); !status.ok()) return status;
    arrived(left + window.arrived());
    while (window.size() > 0) {
      while (window.front().HasPiece()) {
        if (absl::Status status = take(window.front().Take()); !status.ok()) return status;
      }
      if (!window.front_is_whole()) break;
      left += window.front().arrived();
      window.PopFront();
    }
  }
  return absl::OkStatus();
}

}  // namespace mpsd::hub
