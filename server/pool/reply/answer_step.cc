#include "server/pool/reply/answer_step.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/reshape.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

// The rows are views, not copies.
AnswerOutput RowsOf(const CompletedBatch& batch, const BatchEntry& entry, uint32_t output) {
  const BatchOutput& source = batch.outputs[output];
  AnswerOutput answer;
  answer.name = batch.spec->outputs[output].name;
  answer.datatype = source.datatype;
  answer.dims = source.dims;
  answer.bytes = source.bytes;
  if (!batch.spec->batches()) return answer;
  MPSD_CHECK(entry.first_row + entry.row_count <= batch.row_count);
  answer.dims[0] = entry.row_count;
  if (source.datatype == DataType::kBytes) {
    const uint64_t begin = entry.first_row == 0 ? 0 : source.row_ends[entry.first_row - 1];
    const uint64_t end = source.row_ends[entry.first_row + entry.row_count - 1];
    answer.bytes = source.bytes.substr(begin, end - begin);
  } else {
    const size_t row_bytes = source.bytes.size() / batch.row_count;
    answer.bytes = source.bytes.substr(entry.first_row * row_bytes, entry.row_count * row_bytes);
  }
  return answer;
}

// The length before padding; -1 if the input was left out.
int64_t OwnLength(const ModelSpec& spec, const PadRule& rule, const Request& request) {
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const bool is_it = spec.inputs[i].name == rule.input && !request.inputs[i].is_left_out();
    if (is_it) return request.inputs[i].dims[rule.dim];
  }
  return -1;
}

bool AnyRowFailed(const CompletedBatch& batch, const BatchEntry& entry) {
  const auto first = batch.row_failed.begin() + entry.first_row;
  return std::any_of(first, first + entry.row_count, [](uint8_t failed) { return failed != 0; });
}

struct AnswerAndCuts {
  Answer answer;
  std::vector<std::unique_ptr<char[]>> cuts;
};

void CutBack(const CompletedBatch& batch, const BatchEntry& entry, uint32_t output,
             AnswerOutput* answer, AnswerAndCuts* whole) {
  const ModelSpec& spec = *batch.spec;
  for (const PadRule& rule : spec.pad) {
    for (const PadCut& cut : rule.outputs) {
      if (cut.output != spec.outputs[output].name) continue;
      const int64_t length = OwnLength(spec, rule, *entry.request);
      const size_t dim = cut.dim + 1;  // only models that batch pad
      const bool longer = dim < answer->dims.size() && answer->dims[dim] > length;
      if (length < 0 || !longer) continue;
      uint64_t bytes = 0;
      BatchOutput rows{answer->datatype, answer->dims, answer->bytes, {}};
      whole->cuts.push_back(CutRows(rows, 0, entry.row_count, cut.dim, length, &bytes));
      answer->dims[dim] = length;
      answer->bytes = absl::string_view(whole->cuts.back().get(), bytes);
      whole->answer.memory = nullptr;
    }
  }
}

// Gives the answer the shape that clients see.
void TellDims(const TensorSpec& tensor, bool batches, Dims* dims) {
  if (!tensor.client_dims.has_value()) return;
  const auto rest = dims->begin() + (batches ? 1 : 0);
  const Dims told = Reshaped(tensor.dims, *tensor.client_dims, Dims(rest, dims->end()));
  dims->erase(rest, dims->end());
  dims->insert(dims->end(), told.begin(), told.end());
}

void SendAnswer(const CompletedBatch& batch, const BatchEntry& entry) {
  AnswerAndCuts whole;
  whole.answer.memory = batch.memory;
  for (const uint32_t output : entry.request->wanted_outputs) {
    AnswerOutput answer = RowsOf(batch, entry, output);
    CutBack(batch, entry, output, &answer, &whole);
    TellDims(batch.spec->outputs[output], batch.spec->batches(), &answer.dims);
    whole.answer.outputs.push_back(std::move(answer));
  }
  const bool ends = batch.part == AnswerPart::kWhole;
  const Request& request = *entry.request;
  if (ends && request.cache_key.has_value()) request.model->cache->Keep(request, whole.answer);
  ends ? entry.request->reply.Send(whole.answer) : entry.request->reply.SendPart(whole.answer);
}

// False for a batch that no lane ran, and for one that runs again with a larger lease.
bool WasExecuted(const CompletedBatch& batch) {
  if (batch.part == AnswerPart::kNoMore) return true;
  return batch.failure.ok() ? !batch.outputs.empty() : !absl::IsDeadlineExceeded(batch.failure);
}

void AddTo(StageSums* sums, const ExecutedBatch& executed) {
  sums->input_ns += executed.input_ns;
  sums->infer_ns += executed.infer_ns;
  sums->output_ns += executed.output_ns;
}

// Called before any answer is sent, so that a client with an answer finds it counted. All answers
// of a decoupled model to a request count as one execution, when the first comes, and as one
// answer, after the last.
void CountExecution(const CompletedBatch& batch, int64_t now_ns) {
  if (!WasExecuted(batch)) return;
  ExecutedBatch executed;
  executed.row_count = batch.row_count;
  executed.input_ns = batch.started_ns - batch.batched_ns;
  executed.infer_ns = batch.finished_ns - batch.started_ns;
  executed.output_ns = now_ns - batch.finished_ns;
  executed.ended_ms = absl::ToUnixMillis(absl::Now());
  executed.executions = batch.answer_index == 0 ? 1 : 0;
  for (const BatchEntry& entry : batch.entries) {
    if (entry.request == nullptr) continue;
    const StageSums earlier = entry.request->sums;
    AddTo(&entry.request->sums, executed);
    if (!batch.failure.ok() || AnyRowFailed(batch, entry)) continue;
    if (batch.part == AnswerPart::kOneOfMany) continue;
    entry.request->is_answered = true;
    ++executed.answered_requests;
    executed.answered_rows += entry.row_count;
    executed.queue_ns += entry.request->times.batched_ns - entry.request->arrival_ns;
    executed.total_ns += now_ns - entry.request->arrival_ns;
    executed.earlier_input_ns += earlier.input_ns;
    executed.earlier_infer_ns += earlier.infer_ns;
    executed.earlier_output_ns += earlier.output_ns;
  }
  batch.metrics->inference.AddBatch(executed);
}

void CountTokens(const CompletedBatch& batch) {
  if (batch.computed_tokens == 0) return;
  batch.metrics->batch_tokens.ObserveTokens(batch.computed_tokens);
  batch.metrics->padding_tokens.fetch_add(batch.padding_tokens, std::memory_order_relaxed);
}

void NoteTimes(const CompletedBatch& batch, StageTimes* times) {
  if (batch.answer_index == 0) *times = {batch.batched_ns, batch.started_ns, 0};
  times->finished_ns = batch.finished_ns;
}

void ObserveStages(const CompletedBatch& batch, const Request& request, int64_t now_ns) {
  if (batch.part == AnswerPart::kOneOfMany) return;
  const StageTimes& times = request.times;
  ModelMetrics& metrics = *batch.metrics;
  metrics.queue.ObserveNs(times.batched_ns - request.arrival_ns);
  metrics.dispatch.ObserveNs(times.started_ns - times.batched_ns);
  metrics.execute.ObserveNs(times.finished_ns - times.started_ns);
  metrics.respond.ObserveNs(now_ns - times.finished_ns);
}

void GiveAnswer(const CompletedBatch& batch, const BatchEntry& entry) {
  if (!batch.failure.ok()) {
    entry.request->reply.Fail(batch.failure);
  } else if (batch.part == AnswerPart::kNoMore) {
    entry.request->reply.End();
  } else if (AnyRowFailed(batch, entry)) {
    entry.request->reply.Fail(absl::InternalError(batch.row_failure_text));
  } else {
    SendAnswer(batch, entry);
  }
}

}  // namespace

void AnswerStep::Complete(const CompletedBatch& batch) {
  if (batch.entries.empty()) return;
  const int64_t now_ns = clock_->NowNs();
  if (batch.answer_index == 0) {
    batch.metrics->batches.fetch_add(1, std::memory_order_relaxed);
    batch.metrics->batch_rows.ObserveRows(batch.row_count);
    CountTokens(batch);
  }
  for (const BatchEntry& entry : batch.entries) {
    if (entry.request != nullptr) NoteTimes(batch, &entry.request->times);
  }
  CountExecution(batch, now_ns);
  for (const BatchEntry& entry : batch.entries) {
    if (entry.request == nullptr) continue;
    ObserveStages(batch, *entry.request, now_ns);
    GiveAnswer(batch, entry);
  }
}

std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes) {
  // Each (row, outer) keeps its first `length * inner`.
  const size_t cut_dim = dim + 1;
  MPSD_CHECK(cut_dim < output.dims.size() && length <= output.dims[cut_dim]);
  uint64_t inner = ElementBytes(output.datatype);
  for (size_t d = cut_dim + 1; d < output.dims.size(); ++d) {
    inner *= static_cast<uint64_t>(output.dims[d]);
  }
  uint64_t outer = 1;
  for (size_t d = 1; d < cut_dim; ++d) outer *= static_cast<uint64_t>(output.dims[d]);
  const uint64_t from_bytes = static_cast<uint64_t>(output.dims[cut_dim]) * inner;
  const uint64_t to_bytes = static_cast<uint64_t>(length) * inner;
  *bytes = rows * outer * to_bytes;
  auto cut = std::make_unique<char[]>(*bytes);
  if (*bytes == 0) return cut;
  const char* source = output.bytes.data() + first_row * outer * from_bytes;
  for (uint64_t i = 0; i < rows * outer; ++i) {
    std::memcpy(cut.get() + i * to_bytes, source + i * from_bytes, to_bytes);
  }
  return cut;
}

}  // namespace mpsd
