#include "tests/fakes/lies.h"

#include <cstdint>
#include <cstring>
#include <map>

namespace mpsd {
namespace {

using RecordLie = void (*)(const Batch& batch, CompletionRecord* record);

const std::map<std::string, RecordLie>& RecordLies() {
  static const auto* const lies = new std::map<std::string, RecordLie>{
      {"batch_id", [](const Batch&, CompletionRecord* r) { ++r->batch_id; }},
      {"batch_id_of_the_past", [](const Batch&, CompletionRecord* r) { --r->batch_id; }},
      {"outcome", [](const Batch&, CompletionRecord* r) { r->outcome = BatchOutcome{99}; }},
      {"one_of_many",
       [](const Batch&, CompletionRecord* r) { r->outcome = BatchOutcome::kAnswer; }},
      {"no_answer",
       [](const Batch&, CompletionRecord* r) { r->outcome = BatchOutcome::kNoAnswer; }},
      {"whole_answer", [](const Batch&, CompletionRecord* r) { r->outcome = BatchOutcome::kDone; }},
      {"outcome_none", [](const Batch&, CompletionRecord* r) { r->outcome = BatchOutcome{0}; }},
      {"row_count", [](const Batch&, CompletionRecord* r) { ++r->row_count; }},
      {"row_count_huge", [](const Batch&, CompletionRecord* r) { r->row_count = UINT32_MAX; }},
      {"output_count", [](const Batch&, CompletionRecord* r) { ++r->output_count; }},
      {"output_count_none", [](const Batch&, CompletionRecord* r) { r->output_count = 0; }},
      {"output_count_huge",
       [](const Batch&, CompletionRecord* r) { r->output_count = UINT32_MAX; }},
      {"datatype", [](const Batch&, CompletionRecord* r) { ++r->outputs[0].datatype; }},
      {"datatype_huge",
       [](const Batch&, CompletionRecord* r) { r->outputs[0].datatype = UINT32_MAX; }},
      {"rank", [](const Batch&, CompletionRecord* r) { ++r->outputs[0].rank; }},
      {"rank_huge", [](const Batch&, CompletionRecord* r) { r->outputs[0].rank = UINT32_MAX; }},
      {"shape", [](const Batch&, CompletionRecord* r) { ++r->outputs[0].dims[1]; }},
      {"shape_negative", [](const Batch&, CompletionRecord* r) { r->outputs[0].dims[1] = -1; }},
      {"shape_overflow",
       [](const Batch&, CompletionRecord* r) { r->outputs[0].dims[1] = INT64_MAX; }},
      {"batch_dim", [](const Batch&, CompletionRecord* r) { ++r->outputs[0].dims[0]; }},
      {"offset",
       [](const Batch& b, CompletionRecord* r) {
         r->outputs[0].offset =
             (b.output_bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
       }},
      {"offset_huge",
       [](const Batch&, CompletionRecord* r) {
         r->outputs[0].offset = UINT64_MAX - kTensorAlignment + 1;
       }},
      {"offset_unaligned", [](const Batch&, CompletionRecord* r) { r->outputs[0].offset += 4; }},
      {"length", [](const Batch&, CompletionRecord* r) { r->outputs[0].bytes += 4; }},
      {"length_huge", [](const Batch&, CompletionRecord* r) { r->outputs[0].bytes = UINT64_MAX; }},
      {"needs_less",
       [](const Batch&, CompletionRecord* r) {
         r->outcome = BatchOutcome::kOutputTooLarge;
         r->output_bytes_needed = 1;
       }},
      {"needs_everything",
       [](const Batch&, CompletionRecord* r) {
         r->outcome = BatchOutcome::kOutputTooLarge;
         r->output_bytes_needed = UINT64_MAX;
       }},
      {"text_bytes",
       [](const Batch&, CompletionRecord* r) {
         r->outcome = BatchOutcome::kFailed;
         r->text_bytes = UINT32_MAX;
         std::memset(r->text, 0x1B, sizeof(r->text));
       }},
      {"row_failed",
       [](const Batch&, CompletionRecord* r) {
         std::memset(r->row_failed, 0xFF, sizeof(r->row_failed));
         r->text_bytes = UINT32_MAX;
       }},
      {"times",
       [](const Batch&, CompletionRecord* r) {
         r->started_ns = INT64_MAX;
         r->finished_ns = INT64_MIN;
       }},
      {"tokens",
       [](const Batch&, CompletionRecord* r) { r->computed_tokens = r->padding_tokens = ~0ULL; }},
  };
  return *lies;
}

}  // namespace

bool SpoilRecord(const std::string& lie, const Batch& batch, CompletionRecord* record) {
  const auto found = RecordLies().find(lie);
  if (found == RecordLies().end()) return false;
  found->second(batch, record);
  return true;
}

bool SpoilRings(const std::string& lie, uint32_t slot, LaneReport* report, LaneReport* other) {
  const uint32_t tail = report->completion_tail.load();
  const auto publish = [](LaneReport* where, uint32_t entry) {
    const uint32_t next = where->completion_tail.load();
    where->completion_entries[next % kRingEntries].store(entry);
    where->completion_tail.store(next + 1);
  };
  if (lie == "index") {
    publish(report, UINT32_MAX);
  } else if (lie == "index_of_no_batch") {
    publish(report, (slot + 1) % kRingEntries);
  } else if (lie == "answers_twice") {
    publish(report, slot);
  } else if (lie == "answers_for_another_lane") {
    other->records[slot] = report->records[slot];
    publish(other, slot);
  } else if (lie == "tail_beyond") {
    report->completion_tail.store(tail + kRingEntries + 1);
  } else if (lie == "tail_backwards") {
    report->completion_tail.store(tail - 2);
  } else if (lie == "head_beyond") {
    report->submit_head.store(report->submit_head.load() + 1000);
  } else if (lie == "completions_flood") {
    for (uint32_t i = 0; i < 1000; ++i) publish(report, i % kRingEntries);
  } else {
    return false;
  }
  return true;
}

}  // namespace mpsd
