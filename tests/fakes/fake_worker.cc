#include "tests/fakes/fake_worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "proto/base/check.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

MappedSegment MapCopy(int fd, uint64_t bytes, bool writable) {
  absl::StatusOr<MappedSegment> segment = MappedSegment::Map(UniqueFd(dup(fd)), bytes, writable);
  MPSD_CHECK(segment.ok());
  return *std::move(segment);
}

}  // namespace

FakeWorker::FakeWorker(const WorkerLink& link, const std::vector<SlabSegment>& slabs,
                       const Clock* clock)
    : clock_(clock),
      mailbox_(MapCopy(link.mailbox_segment().peer_fd(), link.mailbox_segment().bytes(), false)),
      segment_(MapCopy(link.worker_segment().peer_fd(), link.worker_segment().bytes(), true)),
      next_(link.lanes()),
      completed_(link.lanes()) {
  for (const SlabSegment& segment : slabs) AddSlabs(segment);
}

void FakeWorker::AddSlabs(const SlabSegment& segment) {
  slabs_.emplace(segment.number, MapCopy(segment.fd, segment.bytes, false));
}

std::optional<FakeWorker::Job> FakeWorker::Take(uint32_t lane) {
  const LaneMailbox& box = mailbox(lane);
  if (box.submit_tail.load(std::memory_order_seq_cst) == next_[lane]) return std::nullopt;
  published_.load(std::memory_order_acquire);
  Job job;
  job.lane = lane;
  job.slot = box.submit_entries[next_[lane] % kRingEntries].load(std::memory_order_relaxed);
  MPSD_CHECK(job.slot < kRingEntries);
  report(lane)->submit_head.store(++next_[lane], std::memory_order_release);
  const BatchRecord& record = box.records[job.slot];
  job.batch_id = record.batch_id;
  job.row_count = record.row_count;
  job.run_count = record.run_count;
  job.answer_index = record.answer_index;
  job.output_bytes = record.output_bytes;
  job.output = segment_.data() + record.output_offset;
  MPSD_CHECK(record.output_offset + record.output_bytes <= segment_.bytes());
  Gather(record, &job);
  return job;
}

void FakeWorker::Gather(const BatchRecord& record, Job* job) const {
  job->inputs.resize(record.input_count);
  for (uint32_t i = 0; i < record.input_count; ++i) {
    const InputRecord& input = record.inputs[i];
    job->row_dims.emplace_back(input.dims, input.dims + input.rank);
    job->datatypes.push_back(static_cast<DataType>(input.datatype));
  }
  const uint64_t* byte_counts = record.byte_counts;
  for (uint32_t r = 0; r < record.run_count; ++r) {
    const RowRun& run = record.runs[r];
    MPSD_CHECK(run.first_row + run.row_count <= run.row_capacity);
    uint64_t region = run.slab_offset;
    for (uint32_t i = 0; i < record.input_count; ++i) {
      const uint64_t row_bytes = record.inputs[i].row_bytes;
      const bool counted = job->datatypes[i] == DataType::kBytes;
      const uint64_t bytes = counted ? *byte_counts++ : run.row_count * row_bytes;
      job->inputs[i].append(slabs_.at(run.segment).data() + region + run.first_row * row_bytes,
                            bytes);
      region += *AlignUp(counted ? bytes : run.row_capacity * row_bytes, kTensorAlignment);
    }
  }
}

bool FakeWorker::Cancelled(const Job& job) const {
  return mailbox(job.lane).records[job.slot].cancelled.load(std::memory_order_acquire) != 0;
}

void FakeWorker::Complete(const Job& job) {
  WriteRecord(job);
  Publish(job);
}

void FakeWorker::Answer(const Job& job) {
  WriteRecord(job)->outcome = BatchOutcome::kAnswer;
  Publish(job);
}

CompletionRecord* FakeWorker::WriteRecord(const Job& job) {
  CompletionRecord* record = &report(job.lane)->records[job.slot];
  record->batch_id = job.batch_id;
  record->outcome = BatchOutcome::kDone;
  record->row_count = job.row_count;
  record->output_count = static_cast<uint32_t>(job.inputs.size());
  record->text_bytes = 0;
  record->output_bytes_needed = 0;
  record->started_ns = record->finished_ns = clock_->NowNs();
  std::memset(record->row_failed, 0, job.row_count);
  uint64_t offset = 0;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    OutputRecord& output = record->outputs[i];
    const std::string& bytes = job.inputs[i];
    output.datatype = static_cast<uint32_t>(job.datatypes[i]);
    output.rank = static_cast<uint32_t>(job.row_dims[i].size() + 1);
    output.dims[0] = job.row_count;
    std::copy(job.row_dims[i].begin(), job.row_dims[i].end(), output.dims + 1);
    if (mailbox(job.lane).records[job.slot].has_batch_dim == 0) {
      std::copy(job.row_dims[i].begin(), job.row_dims[i].end(), output.dims);
      --output.rank;
    }
    output.offset = offset;
    output.bytes = bytes.size();
    if (offset + bytes.size() <= job.output_bytes) {
      std::memcpy(job.output + offset, bytes.data(), bytes.size());
    }
    offset = *AlignUp(offset + bytes.size(), kTensorAlignment);
  }
  return record;
}

void FakeWorker::CompleteWith(const Job& job, BatchOutcome outcome, const std::string& text,
                              uint64_t needed_bytes) {
  CompletionRecord* record = WriteRecord(job);
  record->outcome = outcome;
  record->output_count = 0;
  record->output_bytes_needed = needed_bytes;
  record->text_bytes = static_cast<uint32_t>(text.size());
  std::memcpy(record->text, text.data(), std::min(text.size(), kErrorTextBytes));
  Publish(job);
}

void FakeWorker::Publish(uint32_t lane, uint32_t entry) {
  published_.fetch_add(1, std::memory_order_acq_rel);
  LaneReport* words = report(lane);
  words->completion_entries[completed_[lane] % kRingEntries].store(entry,
                                                                   std::memory_order_relaxed);
  words->completion_tail.store(++completed_[lane], std::memory_order_seq_cst);
  words->announced.store(completed_[lane], std::memory_order_relaxed);
}

}  // namespace mpsd
