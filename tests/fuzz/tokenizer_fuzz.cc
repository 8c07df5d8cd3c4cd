// A tokenizer.json, and a text for it. A file that loads also encodes. No row is longer than asked.
//
// The JSON ends at the first NUL byte; the text is what follows.
#include <algorithm>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "text/tokenizer/tokenizer.h"

namespace {

using mpsd::text::EncodeOptions;
using mpsd::text::Encoding;

void CheckRow(const absl::StatusOr<Encoding>& row, const EncodeOptions& options) {
  if (!row.ok()) {
    MPSD_CHECK(!row.status().message().empty());
    return;
  }
  MPSD_CHECK(row->ids.size() <= options.max_tokens && row->ids.size() == row->type_ids.size());
  MPSD_CHECK(std::all_of(row->ids.begin(), row->ids.end(), [](int32_t id) { return id >= 0; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const absl::string_view input(reinterpret_cast<const char*>(data), bytes);
  const size_t end = std::min(input.find('\0'), input.size());
  const auto tokenizer = mpsd::text::Tokenizer::Load(input.substr(0, end));
  if (!tokenizer.ok()) {
    MPSD_CHECK(!tokenizer.status().message().empty());
    return 0;
  }
  const absl::string_view text = input.substr(std::min(end + 1, input.size()));
  CheckRow(tokenizer->Encode(text, {}), {});
  const EncodeOptions narrow = {.max_tokens = 5, .cut_side = EncodeOptions::Side::kLeft};
  CheckRow(tokenizer->Encode(text, narrow), narrow);
  const absl::string_view half = text.substr(0, text.size() / 2);
  CheckRow(tokenizer->EncodePair(half, text.substr(half.size()), narrow), narrow);
  return 0;
}
