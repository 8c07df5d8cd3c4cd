#include "worker/execute/record_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/execute/same_answers.h"
#include "worker/execute/trial_run.h"

namespace mpsd {
namespace {

// The first runs of a shape compile code, and their last digits differ from compiled code's.
constexpr int kRunsToSettle = 3;

// The shortest of this many runs counts: other processes use the device, too.
constexpr int kTimedReplays = 6;

// Two batches of one shape, and the model's answers to them without a record.
class RecordTrial {
 public:
  RecordTrial(Model* model, uint32_t lane, TrialShape shape, const Clock* clock)
      : model_(model),
        recorder_(model->recorder()),
        lane_(lane),
        clock_(clock),
        first_(*model, shape, TrialFill::kSigned, /*seed=*/1),
        second_(*model, shape, TrialFill::kPositive, /*seed=*/2) {}

  // OK: the record is kept. FAILED_PRECONDITION: why it is not. Other errors as for Model::Run().
  absl::Status Record() {
    KeptOutputs first;
    KeptOutputs second;
    for (int i = 0; i < kRunsToSettle; ++i) {
      KeptOutputs dropped;
      if (absl::Status status = Answer(first_, &dropped); !status.ok()) return status;
    }
    if (absl::Status status = Answer(first_, &first); !status.ok()) return status;
    if (absl::Status status = Answer(second_, &second); !status.ok()) return status;
    absl::StatusOr<int64_t> plain_ns = Time();
    if (!plain_ns.ok()) return plain_ns.status();
    absl::Status status = recorder_->Record(lane_, first_.tensors(), first_.rows());
    if (!status.ok()) return status;
    status = Try(first, second, *plain_ns);
    if (!status.ok()) recorder_->Drop(lane_, first_.tensors(), first_.rows());
    return status;
  }

 private:
  absl::Status Answer(const TrialInputs& inputs, KeptOutputs* sink) {
    return model_->Run(lane_, inputs.tensors(), inputs.rows(), sink);
  }

  absl::StatusOr<int64_t> Time() {
    int64_t least_ns = INT64_MAX;
    for (int i = 0; i < kTimedReplays; ++i) {
      KeptOutputs outputs;
      const int64_t began_ns = clock_->NowNs();
      if (absl::Status status = Answer(first_, &outputs); !status.ok()) return status;
      least_ns = std::min(least_ns, clock_->NowNs() - began_ns);
    }
    return least_ns;
  }

  absl::Status Try(const KeptOutputs& first, const KeptOutputs& second, int64_t plain_ns) {
    KeptOutputs second_again;
    KeptOutputs first_again;
    if (absl::Status status = Answer(second_, &second_again); !status.ok()) return status;
    if (absl::Status status = Answer(first_, &first_again); !status.ok()) return status;
    const Precision precision = model_->traits().precision;
    if (!Agree(first, first_again, precision) || !Agree(second, second_again, precision)) {
      return absl::FailedPreconditionError("a replay answers otherwise");
    }
    const absl::StatusOr<int64_t> replayed_ns = Time();
    if (!replayed_ns.ok()) return replayed_ns.status();
    recorder_->SetPrice(lane_, first_.tensors(), {first_.rows(), *replayed_ns, plain_ns});
    return absl::OkStatus();
  }

  Model* const model_;
  RunRecorder* const recorder_;
  const uint32_t lane_;
  const Clock* const clock_;
  const TrialInputs first_;
  const TrialInputs second_;
};

}  // namespace

std::string RecordReport::Text() const {
  std::string text = absl::StrCat("replays ", kept, " of ", tried, " shapes");
  if (kept < tried) absl::StrAppend(&text, "; ", tried - kept, " without: ", why);
  return text;
}

absl::StatusOr<RecordReport> RecordRuns(Model* model, uint32_t lane, const Clock* clock) {
  RecordReport report;
  const std::vector<TrialShape> shapes = model->recorder()->Shapes();
  if (shapes.empty()) report.why = "an open dim has no buckets";
  for (const TrialShape& shape : shapes) {
    if (report.tried == kMaxRecords) break;
    ++report.tried;
    const absl::Status status = RecordTrial(model, lane, shape, clock).Record();
    if (absl::IsDataLoss(status)) return status;
    if (status.ok()) ++report.kept;
    if (!status.ok() && report.why.empty()) report.why = std::string(status.message());
  }
  return report;
}

}  // namespace mpsd
