#include "worker/model/encoder/batch/token_batch.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Columns of the counting tokens, or why the row fails.
struct RowPlan {
  std::vector<int64_t> columns;
  bool is_empty = false;
  std::string fault;
};

class Packer {
 public:
  Packer(const EncoderConfig& config, const TokenInputs& inputs, TokenLayout layout)
      : config_(config), inputs_(inputs), layout_(layout) {}

  TokenBatch Pack() {
    for (int64_t row = 0; row < inputs_.rows; ++row) plans_.push_back(Plan(row));
    std::vector<int64_t> order(plans_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int64_t a, int64_t b) {
      return plans_[a].columns.size() < plans_[b].columns.size();
    });
    batch_.rows.resize(plans_.size());
    for (const int64_t row : order) Add(row);
    return std::move(batch_);
  }

 private:
  int64_t Id(int64_t row, int64_t column) const {
    return inputs_.ids[row * inputs_.length + column];
  }
  bool IsKept(int64_t row, int64_t column) const {
    return inputs_.mask[row * inputs_.length + column] != 0;
  }
  int64_t Type(int64_t row, int64_t column) const {
    return inputs_.types == nullptr ? 0 : inputs_.types[row * inputs_.length + column];
  }

  RowPlan Plan(int64_t row) const;
  std::string Fault(int64_t row, const std::vector<int64_t>& columns) const;
  // The mask leaves out a word before column `end`. In families that count words this would shift
  // later positions.
  bool LeavesOutWord(int64_t row, int64_t end) const;
  void Add(int64_t row);
  void AddToken(int64_t row, int64_t column, int64_t position);

  const EncoderConfig& config_;
  const TokenInputs inputs_;
  const TokenLayout layout_;
  std::vector<RowPlan> plans_;
  TokenBatch batch_;
};

std::string Packer::Fault(int64_t row, const std::vector<int64_t>& columns) const {
  int64_t words = 0;
  for (const int64_t column : columns) {
    const int64_t id = Id(row, column);
    if (id < 0 || id >= config_.vocabulary_size) {
      return absl::StrCat("the token id ", id, " is outside of the model's ",
                          config_.vocabulary_size, " words");
    }
    const int64_t types = std::max<int64_t>(config_.token_type_count, 1);
    if (Type(row, column) < 0 || Type(row, column) >= types) {
      return absl::StrCat("the token type ", Type(row, column), " is outside of the model's ",
                          types);
    }
    if (id != config_.pad_token) ++words;
  }
  // Such families count words, not columns.
  const int64_t needed = config_.first_position > 0 ? words : columns.back() + 1;
  if (needed > config_.max_tokens()) {
    return absl::StrCat("the row has more than the model's ", config_.max_tokens(), " tokens");
  }
  const bool has_hole =
      columns.back() - columns.front() + 1 != static_cast<int64_t>(columns.size());
  if (has_hole && (config_.distance_buckets > 0 || config_.rotary.reach > 0))
    return "attention_mask has a hole in the row";
  if (config_.first_position > 0 && LeavesOutWord(row, columns.back())) {
    return "attention_mask leaves out a word before others";
  }
  return "";
}

bool Packer::LeavesOutWord(int64_t row, int64_t end) const {
  for (int64_t column = 0; column < end; ++column) {
    if (!IsKept(row, column) && Id(row, column) != config_.pad_token) return true;
  }
  return false;
}

RowPlan Packer::Plan(int64_t row) const {
  RowPlan plan;
  for (int64_t column = 0; column < inputs_.length; ++column) {
    if (IsKept(row, column)) plan.columns.push_back(column);
  }
  if (!plan.columns.empty()) plan.fault = Fault(row, plan.columns);
  plan.is_empty = plan.columns.empty() || !plan.fault.empty();
  if (layout_ == TokenLayout::kPadded) {
    for (int64_t column = 0; column < inputs_.length; ++column) {
      if (!IsKept(row, column)) plan.columns.push_back(column);
    }
  } else if (plan.is_empty) {
    plan.columns = {0};
  }
  return plan;
}

void Packer::AddToken(int64_t row, int64_t column, int64_t position) {
  const bool is_left_out = plans_[row].is_empty || !IsKept(row, column);
  batch_.ids.push_back(is_left_out ? 0 : Id(row, column));
  batch_.positions.push_back(is_left_out ? 0 : position);
  if (inputs_.types != nullptr) batch_.types.push_back(is_left_out ? 0 : Type(row, column));
}

void Packer::Add(int64_t row) {
  const RowPlan& plan = plans_[row];
  TokenRow& place = batch_.rows[row];
  place = {batch_.size(), batch_.size(), plan.is_empty};
  int64_t words = 0;
  bool is_first = true;
  for (const int64_t column : plan.columns) {
    const bool is_word = Id(row, column) != config_.pad_token;
    const bool is_kept = !plan.is_empty && IsKept(row, column);
    if (is_kept && is_word) ++words;
    if (is_kept) {
      if (is_first) place.first = batch_.size();
      place.last = batch_.size();
      is_first = false;
    }
    // Attention needs something to see.
    if (layout_ == TokenLayout::kPadded) {
      batch_.kept.push_back(is_kept || (plan.is_empty && column == 0) ? 1 : 0);
    }
    const int64_t counted = is_word ? config_.pad_token + words : config_.pad_token;
    AddToken(row, column, config_.first_position > 0 ? counted : column);
  }
  if (!plan.fault.empty()) batch_.failed_rows.emplace_back(row, plan.fault);
  const auto length = static_cast<int64_t>(plan.columns.size());
  if (batch_.runs.empty() || batch_.runs.back().length != length) {
    batch_.runs.push_back({batch_.size() - length, 0, length});
  }
  ++batch_.runs.back().rows;
}

}  // namespace

TokenBatch PackTokens(const EncoderConfig& config, const TokenInputs& inputs, TokenLayout layout) {
  return Packer(config, inputs, layout).Pack();
}

}  // namespace mpsd
