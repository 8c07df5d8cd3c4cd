#include "worker/execute/precision_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// How a precision behaves in the test.
struct Behaviour {
  float factor = 1;            // for each second number
  int64_t run_ns = 1'000'000;  // a run's time
  int64_t number_ns = 0;       // further time for each number
  absl::Status load;
  absl::Status run;
};

// Multiplies each second number of its input.
class ScalingModel final : public Model {
 public:
  ScalingModel(ModelSpec spec, ModelTraits traits, const Behaviour& behaviour, FakeClock* clock,
               int* bound, std::vector<Dims>* asked)
      : Model(std::move(spec), std::move(traits)),
        behaviour_(behaviour),
        clock_(clock),
        bound_(bound),
        asked_(asked) {}

  absl::Status BindLane(uint32_t) override {
    ++*bound_;
    return absl::OkStatus();
  }
  void ReleaseLane(uint32_t) override { --*bound_; }
  absl::Status Run(uint32_t, absl::Span<const InputTensor> inputs, uint32_t,
                   OutputSink* sink) override {
    EXPECT_EQ(*bound_, 1);
    asked_->push_back(inputs[0].dims);
    std::vector<float> numbers(inputs[0].bytes / sizeof(float));
    clock_->Advance(behaviour_.run_ns +
                    behaviour_.number_ns * static_cast<int64_t>(numbers.size()));
    if (!behaviour_.run.ok()) return behaviour_.run;
    std::memcpy(numbers.data(), inputs[0].data, inputs[0].bytes);
    for (size_t i = 0; i < numbers.size(); i += 2) numbers[i] *= behaviour_.factor;
    std::memcpy(sink->Add(DataType::kFp32, inputs[0].dims), numbers.data(), inputs[0].bytes);
    return absl::OkStatus();
  }

 private:
  const Behaviour behaviour_;
  FakeClock* const clock_;
  int* const bound_;
  std::vector<Dims>* const asked_;
};

ModelSpec SpecOfShortRows() {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"x", DataType::kFp32, {8}}};
  spec.outputs = {{"y", DataType::kFp32, {8}}};
  return spec;
}

// Up to 32 rows of up to 8192 numbers.
ModelSpec SpecOfLongRows() {
  ModelSpec spec = SpecOfShortRows();
  spec.max_batch_size = 32;
  spec.inputs[0].dims = spec.outputs[0].dims = {-1};
  spec.pad = {{"x", 0, {8, 64, 512, 8192}, 0, {}}};
  return spec;
}

class PrecisionChoice : public testing::Test {
 protected:
  PrecisionChoice() {
    behaviours_[Precision::kFp32].run_ns = 3'000'000;
    options_.clock = &clock_;
  }

  absl::StatusOr<std::unique_ptr<Model>> Load(Precision precision) {
    loads_.push_back(precision);
    const Behaviour& behaviour = behaviours_[precision];
    if (!behaviour.load.ok()) return behaviour.load;
    const ModelTraits traits = {.device = device_, .census = census_, .precision = precision};
    return std::make_unique<ScalingModel>(takes_long_rows_ ? SpecOfLongRows() : SpecOfShortRows(),
                                          traits, behaviour, &clock_, &bound_, &asked_);
  }

  absl::StatusOr<std::unique_ptr<Model>> Choose() {
    return ChoosePrecision([this](Precision precision) { return Load(precision); }, options_);
  }

  absl::StatusOr<std::unique_ptr<Model>> ChooseInt8() {
    device_ = "cpu";
    auto model = LoadInInt8([this](Precision precision) { return Load(precision); }, options_);
    EXPECT_EQ(bound_, 0);
    return model;
  }

  // Expects this choice, and returns how it was made.
  std::string NoteOf(Precision wanted) {
    const absl::StatusOr<std::unique_ptr<Model>> model = Choose();
    EXPECT_EQ(bound_, 0);
    if (!model.ok()) return std::string(model.status().message());
    EXPECT_EQ((*model)->traits().precision, wanted);
    return (*model)->traits().precision_note;
  }

  std::string device_ = "cuda:0";
  std::map<Precision, Behaviour> behaviours_;
  std::vector<Precision> loads_;
  std::vector<Dims> asked_;  // for all models, one after another
  bool takes_long_rows_ = false;
  Census census_;
  FakeClock clock_;
  const int64_t began_ns_ = clock_.NowNs();
  int bound_ = 0;
  PrecisionChoiceOptions options_;
};

TEST_F(PrecisionChoice, TakesTheCoarsestThatAgreesAndIsFaster) {
  behaviours_[Precision::kBf16].factor = 1.001F;
  EXPECT_THAT(NoteOf(Precision::kBf16), HasSubstr("its cosine to fp32 is 1.000000"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kBf16));
}

TEST_F(PrecisionChoice, GoesToTheNextFinerOneWhereItDoesNotAgree) {
  behaviours_[Precision::kBf16].factor = 1.5F;
  const std::string note = NoteOf(Precision::kTf32);
  EXPECT_THAT(note, HasSubstr("not bf16: its cosine to fp32 is 0.9"));
  EXPECT_THAT(note, HasSubstr("in output 'y', below 0.9995; its cosine"));
}

TEST_F(PrecisionChoice, StaysInFp32WhereNoneAgrees) {
  behaviours_[Precision::kBf16].factor = 1.5F;
  behaviours_[Precision::kTf32].factor = 1.03F;
  EXPECT_THAT(NoteOf(Precision::kFp32), HasSubstr("not tf32: it differs from fp32 by 0.0"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kBf16, Precision::kTf32));
}

TEST_F(PrecisionChoice, AnotherAnswerMustBeFaster) {
  behaviours_[Precision::kBf16].run_ns = 2'900'000;
  behaviours_[Precision::kTf32].run_ns = 3'100'000;
  EXPECT_EQ(NoteOf(Precision::kFp32),
            "not bf16: it takes 2.9 ms where fp32 takes 3 ms; "
            "not tf32: it takes 3.1 ms where fp32 takes 3 ms");
}

TEST_F(PrecisionChoice, OneThatCannotBeLoadedOrRunIsPassedOver) {
  behaviours_[Precision::kBf16].load = absl::ResourceExhaustedError("no memory beside fp32");
  behaviours_[Precision::kTf32].run = absl::InternalError("no kernel");
  EXPECT_EQ(NoteOf(Precision::kFp32), "not bf16: no memory beside fp32; not tf32: no kernel");
}

TEST_F(PrecisionChoice, ACpuWithoutUnitsIsNotTried) {
  device_ = "cpu";
  EXPECT_THAT(NoteOf(Precision::kFp32), HasSubstr("not faster in another one"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32));
  options_.cpu_has_bf16 = true;
  EXPECT_THAT(NoteOf(Precision::kBf16), HasSubstr("its cosine"));
}

TEST_F(PrecisionChoice, AModelThatCannotBeConvertedStaysAsItWasSaved) {
  behaviours_[Precision::kFp32].load = absl::InvalidArgumentError("a package is compiled");
  EXPECT_EQ(NoteOf(Precision::kAsSaved), "a package is compiled");
}

TEST_F(PrecisionChoice, AModelThatIsNotThereFailsAsItWasSaved) {
  behaviours_[Precision::kFp32].load = absl::NotFoundError("no file");
  behaviours_[Precision::kAsSaved].load = absl::NotFoundError("no file as saved");
  EXPECT_EQ(Choose().status(), absl::NotFoundError("no file as saved"));
}

TEST_F(PrecisionChoice, AModelThatRefusesTheTrialStaysInFp32) {
  behaviours_[Precision::kFp32].run = absl::InternalError("it takes no noise");
  EXPECT_EQ(NoteOf(Precision::kFp32), "no other one can be tried: it takes no noise");
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32));
}

TEST_F(PrecisionChoice, ADeviceThatIsLostEndsTheTrial) {
  behaviours_[Precision::kBf16].run = absl::DataLossError("the device is lost");
  EXPECT_TRUE(absl::IsDataLoss(Choose().status()));
  behaviours_[Precision::kFp32].run = absl::DataLossError("the device is lost");
  EXPECT_TRUE(absl::IsDataLoss(Choose().status()));
}

TEST_F(PrecisionChoice, SamplesOfTheConfigAreAskedAndAllowHalf) {
  WarmUpSample sample;
  sample.rows = 2;
  const std::vector<float> row = {1, 2, 3, 4, 5, 6, 7, 8};
  sample.inputs = {{"x",
                    DataType::kFp32,
                    {8},
                    WarmUpFill::kData,
                    std::string(reinterpret_cast<const char*>(row.data()), 32)}};
  const std::vector<WarmUpSample> samples = {sample};
  options_.samples = samples;
  behaviours_[Precision::kBf16].factor = 2;
  EXPECT_THAT(NoteOf(Precision::kFp16), HasSubstr("not bf16"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kBf16, Precision::kFp16));
}

TEST_F(PrecisionChoice, AModelThatWasSavedInHalfTriesItFirst) {
  census_.parameter_dtypes = {"FP16"};
  EXPECT_THAT(NoteOf(Precision::kFp16), HasSubstr("its cosine"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kFp16));
}

// In fp32 its weights are FP32, whatever they were saved in.
TEST_F(PrecisionChoice, AModelThatConvertsItsWeightsIsAskedWhatItWasSavedIn) {
  census_.parameter_dtypes = {"FP32"};
  census_.saved_dtypes = {"FP16"};
  EXPECT_THAT(NoteOf(Precision::kFp16), HasSubstr("its cosine"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kFp16));
}

TEST_F(PrecisionChoice, ASampleThatDoesNotFitTheModelStaysInFp32) {
  const std::vector<WarmUpSample> samples(1);
  options_.samples = samples;
  EXPECT_THAT(NoteOf(Precision::kFp32), HasSubstr("no other one can be tried: the sample's input"));
}

TEST_F(PrecisionChoice, Int8IsTakenWhereItAgrees) {
  behaviours_[Precision::kInt8].factor = 1.05F;
  behaviours_[Precision::kInt8].run_ns = 9'000'000;  // the config asked for it
  const absl::StatusOr<std::unique_ptr<Model>> model = ChooseInt8();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().precision, Precision::kInt8);
  EXPECT_THAT((*model)->traits().precision_note, HasSubstr("its cosine to fp32 is 0.999"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kInt8, Precision::kFp32));
}

TEST_F(PrecisionChoice, Int8IsRefusedWhereItDoesNotAgree) {
  behaviours_[Precision::kInt8].factor = 1.5F;
  const absl::Status status = ChooseInt8().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the model does not bear int8: its cosine to fp32 is 0.9"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("below 0.9900; 'fp32' is finer"));
}

TEST_F(PrecisionChoice, Int8ThatAModelRefusesIsItsError) {
  behaviours_[Precision::kInt8].load = absl::InvalidArgumentError("its products are its own");
  EXPECT_EQ(ChooseInt8().status(), absl::InvalidArgumentError("its products are its own"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kInt8));
}

TEST_F(PrecisionChoice, Int8ThatCannotBeComparedIsRefused) {
  behaviours_[Precision::kFp32].run = absl::InternalError("it takes no noise");
  EXPECT_EQ(ChooseInt8().status(),
            absl::FailedPreconditionError(
                "whether it agrees with fp32 cannot be tried: it takes no noise"));
  behaviours_[Precision::kFp32].run = absl::DataLossError("the device is lost");
  EXPECT_TRUE(absl::IsDataLoss(ChooseInt8().status()));
}

// The front end takes FAILED_PRECONDITION for a fault that lasts, and starts no further worker.
TEST_F(PrecisionChoice, Int8WithoutMemoryForFp32MayBeTriedAgain) {
  behaviours_[Precision::kInt8].run = absl::ResourceExhaustedError("no memory to run");
  EXPECT_EQ(ChooseInt8().status(), absl::ResourceExhaustedError("no memory to run"));
  behaviours_[Precision::kFp32].load = absl::ResourceExhaustedError("no memory beside int8");
  EXPECT_EQ(ChooseInt8().status(), absl::ResourceExhaustedError("no memory beside int8"));
}

// 32 rows of 8192 numbers would take 26 s, and four of them 3.3 s; four of 512 take 205 ms.
TEST_F(PrecisionChoice, ASlowModelIsTriedAtSmallerShapes) {
  takes_long_rows_ = true;
  behaviours_[Precision::kFp32].number_ns = 100'000;
  EXPECT_THAT(NoteOf(Precision::kBf16), HasSubstr("its cosine to fp32 is 1.000000"));
  EXPECT_EQ(asked_.back(), (Dims{4, 64}));
  EXPECT_LT(clock_.NowNs(), began_ns_ + 4 * kNsPerSecond);
}

TEST_F(PrecisionChoice, AFastModelIsTriedAtTheLargestShape) {
  takes_long_rows_ = true;
  behaviours_[Precision::kFp32].run_ns = 20'000'000;
  EXPECT_THAT(NoteOf(Precision::kBf16), HasSubstr("its cosine"));
  EXPECT_EQ(asked_.back(), (Dims{32, 8192}));
}

TEST_F(PrecisionChoice, Int8OfASlowModelIsTriedAtSmallerShapes) {
  takes_long_rows_ = true;
  behaviours_[Precision::kFp32].number_ns = behaviours_[Precision::kInt8].number_ns = 100'000;
  EXPECT_TRUE(ChooseInt8().ok());
  EXPECT_EQ(asked_.back(), (Dims{4, 64}));
}

// Two questions, positive and signed, to each of the two models.
TEST_F(PrecisionChoice, Int8IsAskedNothingTwiceForItsSpeed) {
  EXPECT_TRUE(ChooseInt8().ok());
  EXPECT_EQ(asked_.size(), 4u);
}

TEST_F(PrecisionChoice, AutoNeverTriesInt8) {
  device_ = "cpu";
  options_.cpu_has_bf16 = true;
  behaviours_[Precision::kBf16].factor = 1.5F;
  EXPECT_THAT(NoteOf(Precision::kFp32), HasSubstr("not bf16"));
  EXPECT_THAT(loads_, ElementsAre(Precision::kFp32, Precision::kBf16));
}

}  // namespace
}  // namespace mpsd
