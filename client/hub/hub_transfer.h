// HubTransfer: one GET of a part of a file, and what became of it.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/hub/hub_settings.h"
#include "client/hub/piece_pool.h"

namespace mpsd::hub {

// The caller runs the libcurl handle and then asks for the outcome. Owned by HubClient's calls.
// Lives on the caller's thread.
class HubTransfer {
 public:
  // How the last run ended.
  enum class Outcome : uint8_t {
    kWhole,     // all bytes are there
    kTryAgain,  // the network, or the hub for now
    kNever,     // fault() says why
  };

  // All of a file, or one part.
  struct Part {
    uint64_t begin = 0;
    uint64_t bytes_max = 0;  // more is refused
    bool is_exact = true;    // fewer bytes than bytes_max are too few; else a try begins anew
    bool is_whole = false;   // the file has nothing else, so the first try names no range
  };

  // Borrows `pool`.
  HubTransfer(const HubSettings& settings, std::string url, const Part& part, PiecePool* pool);
  HubTransfer(const HubTransfer&) = delete;
  ~HubTransfer();

  CURL* handle() const { return handle_; }

  // Asks for the bytes that are still missing.
  void Prepare();

  // Called after a run. `model` is for a fault's text.
  Outcome Judge(CURLcode result, absl::string_view model);

  const absl::Status& fault() const { return fault_; }
  int64_t retry_after_s() const { return retry_after_s_; }  // 0: the hub did not say
  bool went_forward() const { return went_forward_; }       // the last run brought bytes that stay
  uint64_t arrived() const { return arrived_; }             // bytes so far, taken ones too

  // Something arrived and was not taken.
  bool HasPiece() const { return !pieces_.empty(); }

  // REQUIRES: HasPiece().
  std::string Take();

 private:
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  bool Accept(absl::string_view piece);
  absl::Status FaultOfStatus(long status, absl::string_view model) const;
  absl::Status FaultOfCurl(CURLcode result, absl::string_view model) const;

  const std::string url_;
  const Part part_;
  const bool has_token_;
  CURL* const handle_;
  curl_slist* headers_ = nullptr;
  PiecePool* const pool_;
  std::deque<std::string> pieces_;
  uint64_t arrived_ = 0;
  std::string error_code_;  // the hub's own: "GatedRepo"
  int64_t retry_after_s_ = 0;
  bool went_forward_ = false;
  bool names_range_ = false;
  bool ignores_range_ = false;
  bool is_too_large_ = false;
  absl::Status fault_;
};

}  // namespace mpsd::hub
