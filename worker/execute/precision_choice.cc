#include "worker/execute/precision_choice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "worker/execute/answer_agreement.h"
#include "worker/execute/sample_inputs.h"
#include "worker/execute/trial_bound.h"
#include "worker/execute/trial_run.h"
#include "worker/model/elements.h"

namespace mpsd {
namespace {

// To measure speed, the last question is repeated, up to this often and this long.
constexpr int kTimedRuns = 3;
constexpr int64_t kTimedRunsNs = kNsPerSecond;

// The longest run of a trial.
constexpr int64_t kTrialRunNs = 200 * kNsPerMs;

// One trial run's inputs. Borrows them.
struct Asked {
  absl::Span<const InputTensor> tensors;
  uint32_t rows = 1;
};

absl::Status AskOnce(Model* model, const Asked& asked, KeptOutputs* kept) {
  DecoupledAnswers* const answers = model->answers();
  if (answers != nullptr) return answers->Answer(0, asked.tensors, /*index=*/0, kept).status();
  return model->Run(0, asked.tensors, asked.rows, kept);
}

// REQUIRES: lane 0 is bound.
absl::StatusOr<int64_t> TimeToAnswer(Model* model, const TrialShape& shape, const Clock* clock) {
  const TrialInputs inputs(*model, shape, TrialFill::kPositive, /*seed=*/1);
  KeptOutputs dropped;
  const int64_t began_ns = clock->NowNs();
  const absl::Status status = AskOnce(model, {inputs.tensors(), inputs.rows()}, &dropped);
  if (!status.ok()) return status;
  return clock->NowNs() - began_ns;
}

absl::StatusOr<std::vector<TrialShape>> ShapesInTime(Model* model, const Clock* clock) {
  std::vector<TrialShape> shapes = TrialShapes(model->spec());
  if (shapes.size() == 1) return shapes;
  if (absl::Status bound = model->BindLane(0); !bound.ok()) return bound;
  const absl::StatusOr<TrialShape> large =
      LargestInTime(shapes.front(), shapes.back(), kTrialRunNs,
                    [&](const TrialShape& shape) { return TimeToAnswer(model, shape, clock); });
  model->ReleaseLane(0);
  if (!large.ok()) return large.status();
  if (*large == shapes.front()) return std::vector<TrialShape>{*large};
  return std::vector<TrialShape>{shapes.front(), *large};
}

// All inputs of the trial, the largest last. Owns them.
class Questions {
 public:
  // The samples, or random inputs of shapes that the fp32 `model` answers in time.
  static absl::StatusOr<Questions> Make(Model* model, const PrecisionChoiceOptions& options) {
    Questions questions;
    const absl::Status status = options.samples.empty()
                                    ? questions.AddRandom(model, options.clock)
                                    : questions.AddSamples(*model, options.samples);
    if (!status.ok()) return status;
    return questions;
  }

  std::vector<Asked> All() const {
    std::vector<Asked> all;
    for (size_t i = 0; i < samples_.size(); ++i) {
      all.push_back({samples_[i].tensors, sample_rows_[i]});
    }
    for (const auto& inputs : random_) all.push_back({inputs->tensors(), inputs->rows()});
    return all;
  }

 private:
  absl::Status AddSamples(const Model& model, absl::Span<const WarmUpSample> samples) {
    for (const WarmUpSample& sample : samples) {
      absl::StatusOr<SampleInputs> inputs = MakeSampleInputs(model.spec(), sample);
      if (!inputs.ok()) return inputs.status();
      samples_.push_back(*std::move(inputs));
      sample_rows_.push_back(sample.rows);
    }
    return absl::OkStatus();
  }

  absl::Status AddRandom(Model* model, const Clock* clock) {
    const absl::StatusOr<std::vector<TrialShape>> shapes = ShapesInTime(model, clock);
    if (!shapes.ok()) return shapes.status();
    const std::vector<TensorSpec>& inputs = model->spec().inputs;
    const bool has_signs = std::any_of(inputs.begin(), inputs.end(), [](const TensorSpec& input) {
      return IsFloat(input.datatype);
    });
    uint32_t seed = 0;
    for (const TrialShape& shape : *shapes) {
      for (const TrialFill fill : {TrialFill::kPositive, TrialFill::kSigned}) {
        if (fill == TrialFill::kSigned && !has_signs) continue;
        random_.push_back(std::make_unique<TrialInputs>(*model, shape, fill, ++seed));
      }
    }
    return absl::OkStatus();
  }

  std::vector<SampleInputs> samples_;
  std::vector<uint32_t> sample_rows_;
  std::vector<std::unique_ptr<TrialInputs>> random_;
};

struct Answers {
  std::vector<std::unique_ptr<KeptOutputs>> kept;
  int64_t took_ns = INT64_MAX;
};

absl::Status Ask(Model* model, const std::vector<Asked>& questions, int timed_runs,
                 const Clock* clock, Answers* answers) {
  int64_t began_ns = clock->NowNs();
  for (const Asked& asked : questions) {
    answers->kept.push_back(std::make_unique<KeptOutputs>());
    began_ns = clock->NowNs();
    absl::Status status = AskOnce(model, asked, answers->kept.back().get());
    if (!status.ok()) return status;
  }
  answers->took_ns = clock->NowNs() - began_ns;
  const int64_t until_ns = clock->NowNs() + kTimedRunsNs;
  for (int run = 0; run < timed_runs && clock->NowNs() < until_ns; ++run) {
    KeptOutputs dropped;
    began_ns = clock->NowNs();
    absl::Status status = AskOnce(model, questions.back(), &dropped);
    if (!status.ok()) return status;
    answers->took_ns = std::min(answers->took_ns, clock->NowNs() - began_ns);
  }
  return absl::OkStatus();
}

absl::StatusOr<Answers> AnswersOf(Model* model, const std::vector<Asked>& questions, int timed_runs,
                                  const Clock* clock) {
  if (absl::Status bound = model->BindLane(0); !bound.ok()) return bound;
  Answers answers;
  const absl::Status status = Ask(model, questions, timed_runs, clock, &answers);
  model->ReleaseLane(0);
  if (!status.ok()) return status;
  return answers;
}

// How far `given` is from `expected`, in words: `fault` if beyond the bounds, else `note`.
struct Distance {
  std::string fault;
  std::string note;
};

Distance Measure(const ModelSpec& spec, const std::vector<Asked>& questions,
                 const Answers& expected, const Answers& given, const AgreementBounds& bounds) {
  double cosine = 1;
  double error = 0;
  uint64_t compared = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    for (const Agreement& agreement :
         CompareAnswers(spec, questions[i].rows, *expected.kept[i], *given.kept[i])) {
      std::string fault = AgreementFault(agreement, bounds);
      if (!fault.empty()) return {std::move(fault), ""};
      cosine = std::min(cosine, agreement.cosine);
      error = std::max(error, agreement.relative_error);
      compared += agreement.compared;
    }
  }
  if (compared == 0) return {"the trial runs gave nothing to compare", ""};
  return {"", absl::StrFormat("its cosine to fp32 is %.6f, its largest error %.2g", cosine, error)};
}

class PrecisionTrial {
 public:
  PrecisionTrial(LoadInPrecision load, const PrecisionChoiceOptions& options, const Model& fp32,
                 std::vector<Asked> questions, Answers expected)
      : load_(load),
        options_(options),
        spec_(fp32.spec()),
        questions_(std::move(questions)),
        expected_(std::move(expected)) {}

  // Null if this precision is not taken; note() says why.
  absl::StatusOr<std::unique_ptr<Model>> Try(Precision precision) {
    absl::StatusOr<std::unique_ptr<Model>> model = load_(precision);
    if (!model.ok()) return PassOver(precision, model.status());
    const absl::StatusOr<Answers> given =
        AnswersOf(model->get(), questions_, kTimedRuns, options_.clock);
    if (!given.ok()) return PassOver(precision, given.status());
    const std::string fault = FaultOf(*given);
    if (fault.empty()) return model;
    return PassOver(precision, absl::InternalError(fault));
  }

  const std::string& note() const { return note_; }

 private:
  absl::StatusOr<std::unique_ptr<Model>> PassOver(Precision precision, const absl::Status& why) {
    if (absl::IsDataLoss(why)) return why;
    absl::StrAppend(&note_, note_.empty() ? "" : "; ", "not ", NameOf(precision), ": ",
                    why.message());
    return nullptr;
  }

  // Empty if the answers are accepted; the note then says how far they are from fp32.
  std::string FaultOf(const Answers& given) {
    const Distance distance = Measure(spec_, questions_, expected_, given, AgreementBounds());
    if (!distance.fault.empty()) return distance.fault;
    if (std::string fault = GainFault(expected_.took_ns, given.took_ns); !fault.empty()) {
      return fault;
    }
    absl::StrAppend(&note_, note_.empty() ? "" : "; ", distance.note);
    return "";
  }

  const LoadInPrecision load_;
  const PrecisionChoiceOptions& options_;
  const ModelSpec& spec_;
  const std::vector<Asked> questions_;
  const Answers expected_;
  std::string note_;
};

bool AreReal(absl::Span<const WarmUpSample> samples) {
  return std::any_of(samples.begin(), samples.end(), [](const WarmUpSample& sample) {
    return std::any_of(sample.inputs.begin(), sample.inputs.end(),
                       [](const WarmUpInput& input) { return input.fill == WarmUpFill::kData; });
  });
}

bool WasSavedInHalf(const Census& census) {
  const std::vector<std::string>& dtypes =
      census.saved_dtypes.empty() ? census.parameter_dtypes : census.saved_dtypes;
  return std::find(dtypes.begin(), dtypes.end(), "FP16") != dtypes.end();
}

std::unique_ptr<Model> Noted(std::unique_ptr<Model> model, std::string note) {
  model->set_precision_note(std::move(note));
  return model;
}

absl::StatusOr<std::unique_ptr<Model>> AsSaved(LoadInPrecision load, const absl::Status& why) {
  absl::StatusOr<std::unique_ptr<Model>> model = load(Precision::kAsSaved);
  if (!model.ok()) return model;
  return Noted(*std::move(model), std::string(why.message()));
}

// A lost device and a lack of memory are not the model's fault: the next worker may succeed.
absl::Status Untold(const absl::Status& why) {
  if (absl::IsDataLoss(why) || absl::IsResourceExhausted(why)) return why;
  return absl::FailedPreconditionError(
      absl::StrCat("whether it agrees with fp32 cannot be tried: ", why.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadInInt8(LoadInPrecision load,
                                                  const PrecisionChoiceOptions& options) {
  absl::StatusOr<std::unique_ptr<Model>> model = load(Precision::kInt8);
  if (!model.ok()) return model;
  const absl::StatusOr<std::unique_ptr<Model>> fp32 = load(Precision::kFp32);
  if (!fp32.ok()) return Untold(fp32.status());
  const absl::StatusOr<Questions> questions = Questions::Make(fp32->get(), options);
  if (!questions.ok()) return Untold(questions.status());
  const absl::StatusOr<Answers> expected =
      AnswersOf(fp32->get(), questions->All(), /*timed_runs=*/0, options.clock);
  if (!expected.ok()) return Untold(expected.status());
  const absl::StatusOr<Answers> given =
      AnswersOf(model->get(), questions->All(), /*timed_runs=*/0, options.clock);
  if (!given.ok()) return Untold(given.status());
  Distance distance = Measure((*fp32)->spec(), questions->All(), *expected, *given, kInt8Bounds);
  if (distance.fault.empty()) return Noted(*std::move(model), std::move(distance.note));
  return absl::FailedPreconditionError(
      absl::StrCat("the model does not bear int8: ", distance.fault, "; 'fp32' is finer"));
}

absl::StatusOr<std::unique_ptr<Model>> ChoosePrecision(LoadInPrecision load,
                                                       const PrecisionChoiceOptions& options) {
  absl::StatusOr<std::unique_ptr<Model>> fp32 = load(Precision::kFp32);
  if (!fp32.ok()) return AsSaved(load, fp32.status());
  const std::vector<Precision> candidates =
      PrecisionCandidates({(*fp32)->traits().device, options.cpu_has_bf16, AreReal(options.samples),
                           WasSavedInHalf((*fp32)->traits().census)});
  if (candidates.empty()) {
    return Noted(*std::move(fp32), "this device is not faster in another one");
  }
  const absl::StatusOr<Questions> questions = Questions::Make(fp32->get(), options);
  absl::StatusOr<Answers> expected =
      questions.ok() ? AnswersOf(fp32->get(), questions->All(), kTimedRuns, options.clock)
                     : absl::StatusOr<Answers>(questions.status());
  if (absl::IsDataLoss(expected.status())) return expected.status();
  if (!expected.ok()) {
    return Noted(*std::move(fp32),
                 absl::StrCat("no other one can be tried: ", expected.status().message()));
  }
  PrecisionTrial trial(load, options, **fp32, questions->All(), *std::move(expected));
  for (const Precision candidate : candidates) {
    absl::StatusOr<std::unique_ptr<Model>> model = trial.Try(candidate);
    if (!model.ok()) return model.status();
    if (*model != nullptr) return Noted(*std::move(model), trial.note());
  }
  return Noted(*std::move(fp32), trial.note());
}

}  // namespace mpsd
