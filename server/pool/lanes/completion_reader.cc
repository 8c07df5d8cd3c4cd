#include "server/pool/lanes/completion_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

// A single copy: the fence keeps the compiler from reading the source again.
template <typename T>
void CopyOnce(const T* source, size_t count, T* target) {
  std::memcpy(static_cast<void*>(target), static_cast<const void*>(source), count * sizeof(T));
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

struct RecordHead {
  uint64_t batch_id;
  BatchOutcome outcome;
  uint32_t row_count;
  uint32_t output_count;
  uint32_t text_bytes;
  uint64_t output_bytes_needed;
  int64_t started_ns;
  int64_t finished_ns;
  uint64_t computed_tokens;
  uint64_t padding_tokens;
};
static_assert(sizeof(RecordHead) == offsetof(CompletionRecord, outputs));

absl::Status Lie(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the worker's completion lies: ", what));
}

absl::Status CheckOutput(const OutputRecord& output, const TensorSpec& tensor,
                         const ExpectedCompletion& expected, bool batches) {
  if (output.rank > kMaxRank + 1) return Lie("rank");
  if (static_cast<DataType>(output.datatype) != tensor.datatype) return Lie("datatype");
  absl::Span<const int64_t> dims(output.dims, output.rank);
  if (batches) {
    if (dims.empty() || dims[0] != expected.row_count) return Lie("batch dim");
    dims.remove_prefix(1);
  }
  if (!ShapeFits(tensor.dims, dims)) return Lie("shape");
  const absl::Span<const int64_t> whole(output.dims, output.rank);
  if (tensor.datatype == DataType::kBytes) {
    if (!ElementCount(whole).has_value()) return Lie("shape");
  } else if (TensorBytes(tensor.datatype, whole) != output.bytes) {
    return Lie("byte count");
  }
  if (output.offset % kTensorAlignment != 0 || output.offset > expected.lease_bytes ||
      output.bytes > expected.lease_bytes - output.offset) {
    return Lie("place of an output");
  }
  return absl::OkStatus();
}

// Records where each row ends. The worker may change the lengths at any time, so no later step
// reads them again.
absl::Status WalkRows(absl::string_view bytes, uint64_t rows, uint64_t elements,
                      std::vector<uint64_t>* row_ends) {
  const uint64_t row_elements = elements / rows;
  uint64_t at = 0;
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t i = 0; i < row_elements; ++i) {
      uint32_t length = 0;
      if (bytes.size() - at < sizeof(length)) return Lie("elements");
      CopyOnce(bytes.data() + at, sizeof(length), reinterpret_cast<char*>(&length));
      at += sizeof(length);
      if (bytes.size() - at < length) return Lie("elements");
      at += length;
    }
    row_ends->push_back(at);
  }
  return at == bytes.size() ? absl::OkStatus() : Lie("elements");
}

absl::Status ReadOutputs(const CompletionRecord& record, const RecordHead& head,
                         const ExpectedCompletion& expected, const ModelSpec& spec,
                         CompletedBatch* batch) {
  if (head.output_count != spec.outputs.size()) return Lie("output count");
  batch->outputs.resize(head.output_count);
  for (uint32_t i = 0; i < head.output_count; ++i) {
    OutputRecord output;
    CopyOnce(&record.outputs[i], 1, &output);
    if (absl::Status status = CheckOutput(output, spec.outputs[i], expected, spec.batches());
        !status.ok()) {
      return status;
    }
    BatchOutput& target = batch->outputs[i];
    target.datatype = spec.outputs[i].datatype;
    target.dims.assign(output.dims, output.dims + output.rank);
    target.bytes = absl::string_view(expected.lease_data + output.offset, output.bytes);
    target.row_ends.clear();
    if (target.datatype != DataType::kBytes) continue;
    const uint64_t rows = spec.batches() ? expected.row_count : 1;
    const uint64_t elements = ElementCount(target.dims).value();
    if (absl::Status status = WalkRows(target.bytes, rows, elements, &target.row_ends);
        !status.ok()) {
      return status;
    }
  }
  batch->row_failed.resize(expected.row_count);
  CopyOnce(record.row_failed, expected.row_count, batch->row_failed.data());
  return absl::OkStatus();
}

std::string ReadText(const CompletionRecord& record, uint32_t bytes) {
  std::string text(std::min<size_t>(bytes, kErrorTextBytes), '\0');
  CopyOnce(static_cast<const char*>(record.text), text.size(), text.data());
  const auto unprintable = [](char c) { return c < ' ' || c > '~'; };
  std::replace_if(text.begin(), text.end(), unprintable, ' ');
  return text;
}

absl::Status ReadAnswer(const CompletionRecord& record, const RecordHead& head,
                        const ExpectedCompletion& expected, const ModelSpec& spec,
                        CompletedBatch* batch) {
  if (head.row_count != expected.row_count) return Lie("row count");
  if (expected.answer_index >= kMaxAnswers) return Lie("answers without end");
  batch->row_failure_text = ReadText(record, head.text_bytes);
  // Only metrics show these counts, so a false one is no reason to kill the worker.
  batch->computed_tokens = std::min(head.computed_tokens, kMaxCountedTokens);
  batch->padding_tokens = std::min(head.padding_tokens, batch->computed_tokens);
  absl::Status status = ReadOutputs(record, head, expected, spec, batch);
  // A failed answer is the last.
  const bool failed = batch->row_failed.front() != 0;
  if (spec.decoupled && !failed) batch->part = AnswerPart::kOneOfMany;
  return status;
}

}  // namespace

absl::Status ReadCompletion(const CompletionRecord& record, const ExpectedCompletion& expected,
                            const ModelSpec& spec, CompletedBatch* batch, uint64_t* needed_bytes) {
  RecordHead head;
  CopyOnce(reinterpret_cast<const RecordHead*>(&record), 1, &head);
  *needed_bytes = 0;
  const bool answers = head.outcome == BatchOutcome::kDone || head.outcome == BatchOutcome::kAnswer;
  if (!answers) batch->outputs.clear();
  batch->row_failed.assign(expected.row_count, 0);
  batch->part = AnswerPart::kWhole;
  batch->failure = absl::OkStatus();
  batch->row_failure_text.clear();
  batch->computed_tokens = batch->padding_tokens = 0;
  batch->row_count = expected.row_count;
  if (head.batch_id != expected.batch_id) return Lie("batch id");
  // A false time is no reason to kill the worker.
  batch->started_ns = std::clamp(head.started_ns, expected.batched_ns, expected.now_ns);
  batch->finished_ns = std::clamp(head.finished_ns, batch->started_ns, expected.now_ns);
  switch (head.outcome) {
    case BatchOutcome::kDone:
    case BatchOutcome::kAnswer:
      if (spec.decoupled != (head.outcome == BatchOutcome::kAnswer)) return Lie("outcome");
      return ReadAnswer(record, head, expected, spec, batch);
    case BatchOutcome::kNoAnswer:
      if (!spec.decoupled) return Lie("outcome");
      batch->part = AnswerPart::kNoMore;
      return absl::OkStatus();
    case BatchOutcome::kFailed:
      batch->failure = absl::InternalError(ReadText(record, head.text_bytes));
      return absl::OkStatus();
    case BatchOutcome::kSkipped:
      batch->failure = absl::DeadlineExceededError("Request timeout expired");
      return absl::OkStatus();
    case BatchOutcome::kOutputTooLarge:
      if (head.output_bytes_needed <= expected.lease_bytes) return Lie("bytes needed");
      *needed_bytes = head.output_bytes_needed;
      return absl::OkStatus();
    case BatchOutcome::kInvalid:
      break;
  }
  return Lie("outcome");
}

}  // namespace mpsd
