#include "worker/model/aoti/aoti_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr char kMetadata[] = R"({"spec": {"max_batch_size": 8,
    "inputs": [{"name": "x", "datatype": "FP32", "shape": [16]}],
    "outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}]},
    "census": {"known": true, "linear": 2, "layer_norm": 1, "parameter_bytes": 2768},
    "writes_inputs": false, "machine": "x86_64"})";

LoadOrder Order() {
  LoadOrder order;
  order.model = "m";
  return order;
}

TEST(PackageFacts, AreReadFromTheMetadata) {
  const absl::StatusOr<PackageFacts> facts =
      ReadPackageFacts({{"mpsd", kMetadata}, {"AOTI_DEVICE_KEY", "cuda"}});
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->device, "cuda");
  EXPECT_EQ(facts->machine, "x86_64");
  EXPECT_FALSE(facts->writes_inputs);
  EXPECT_EQ(facts->census.linear, 2u);
  EXPECT_EQ(facts->spec.max_batch_size, 8u);
}

TEST(PackageFacts, OfAStockPackageAreCareful) {
  const absl::StatusOr<PackageFacts> facts =
      ReadPackageFacts({{"AOTI_DEVICE_KEY", "cpu"}, {"AOTI_MACHINE", "arm64"}});
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->machine, "arm64");
  EXPECT_TRUE(facts->writes_inputs);
  EXPECT_FALSE(facts->census.known);
}

TEST(PackageFacts, SayWhatIsMalformed) {
  for (const char* text :
       {"no json", "[]", "{}", R"({"spec": 3})", R"({"spec": {}, "census": {"linear": -1}})"}) {
    const absl::StatusOr<PackageFacts> facts = ReadPackageFacts({{"mpsd", text}});
    ASSERT_FALSE(facts.ok()) << text;
    EXPECT_THAT(std::string(facts.status().message()), HasSubstr("metadata 'mpsd'"));
  }
}

TEST(PackageFits, NamesTheOtherDeviceOrMachine) {
  PackageFacts facts;
  EXPECT_TRUE(CheckPackageFits(facts, "cpu", "x86_64").ok()) << "it does not say";
  facts.device = "cuda";
  facts.machine = "x86_64";
  EXPECT_TRUE(CheckPackageFits(facts, "cuda:1", "x86_64").ok());
  EXPECT_THAT(std::string(CheckPackageFits(facts, "cpu", "x86_64").message()),
              HasSubstr("was compiled for cuda, but the model's device is cpu"));
  EXPECT_THAT(std::string(CheckPackageFits(facts, "cuda:0", "aarch64").message()),
              HasSubstr("was compiled for x86_64, but this machine is aarch64"));
}

TEST(PackageSpec, PrintsTheStanzaThatIsMissing) {
  const absl::StatusOr<ModelSpec> spec = MergePackageSpec(Order(), PackageFacts());
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(std::string(spec.status().message()),
              HasSubstr(R"("inputs": [{"name": "input", "datatype": "FP32", "shape": [-1]}])"));
}

TEST(PackageSpec, IsOverriddenByTheOrder) {
  const PackageFacts facts = *ReadPackageFacts({{"mpsd", kMetadata}});
  LoadOrder order = Order();
  order.spec.max_batch_size = 4;
  order.spec.inputs = {{"z", DataType::kFp32, {16}}};
  const absl::StatusOr<ModelSpec> spec = MergePackageSpec(order, facts);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->max_batch_size, 4u);
  EXPECT_EQ(spec->inputs[0].name, "z");
  EXPECT_EQ(spec->outputs[0].name, "y");
}

TEST(PackageSpec, TheTaskIsThePackagesWord) {
  LoadOrder order = Order();
  order.spec.inputs = order.spec.outputs = {{"x", DataType::kFp32, {4}}};
  order.spec.task = ModelTask::kRerank;
  const auto facts = ReadPackageFacts({{"mpsd", R"({"spec": {"task": "classify"}})"}});
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(MergePackageSpec(order, *facts)->task, ModelTask::kClassify);
}

TEST(PackageSpec, HasNoStrings) {
  LoadOrder order = Order();
  order.spec.inputs = {{"s", DataType::kBytes, {1}}};
  order.spec.outputs = {{"y", DataType::kFp32, {1}}};
  EXPECT_THAT(std::string(MergePackageSpec(order, PackageFacts()).status().message()),
              HasSubstr("'s' is BYTES"));
}

TEST(PackagePrecision, IsTheOneThatItWasCompiledFor) {
  EXPECT_TRUE(CheckPackagePrecision(Precision::kAsSaved).ok());
  EXPECT_EQ(CheckPackagePrecision(Precision::kBf16).message(),
            "a package computes in what it was compiled for, not in 'bf16'; export the model in "
            "that precision");
  EXPECT_TRUE(absl::IsInvalidArgument(CheckPackagePrecision(Precision::kFp32)));
}

}  // namespace
}  // namespace mpsd
