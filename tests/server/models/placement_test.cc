#include "server/models/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

using testing::Each;
using Devices = std::vector<std::string>;

ModelConfig ModelOn(const std::string& device) {
  ModelConfig model;
  model.device = device;
  return model;
}

HostFacts HostOf(uint32_t cores) {
  HostFacts host;
  host.cores = cores;
  return host;
}

HostFacts HostWithCuda(uint32_t devices) {
  HostFacts host = HostOf(8);
  host.auto_device = "cuda:0";
  host.cuda_devices = devices;
  return host;
}

Placement Place(const ModelConfig& model, const HostFacts& host) {
  return DecidePlacements({&model, 1}, host).at(0);
}

// The device of each process.
Devices DevicesOf(const Placement& placement) {
  Devices devices;
  for (const DeviceShare& share : placement.processes) devices.push_back(share.device);
  return devices;
}

// The device of the only process.
std::string DeviceOf(const Placement& placement) {
  EXPECT_EQ(placement.processes.size(), 1u);
  return placement.processes.at(0).device;
}

TEST(Placement, AModelThatLeavesItOpenSaysWhichDeviceWasPassedOver) {
  HostFacts host = HostOf(2);
  EXPECT_EQ(Place(ModelOn("auto"), host).device_note, "");
  host.passed_over = "cuda: libtorch_cuda.so: cannot open shared object file";
  EXPECT_EQ(Place(ModelOn("auto"), host).device_note,
            "passed over cuda: libtorch_cuda.so: cannot open shared object file");
  EXPECT_EQ(Place(ModelOn("cpu"), host).device_note, "");
  ModelConfig synthetic = ModelOn("auto");
  synthetic.format = ModelFormat::kSynthetic;
  EXPECT_EQ(Place(synthetic, host).device_note, "");
}

TEST(Placement, ACpuModelGetsALaneForEachCoreOfItsShareButOne) {
  struct Row {
    uint32_t cores;
    uint32_t models;
    uint32_t lanes;
  };
  for (const Row& row : {Row{1, 1, 1}, Row{2, 1, 2}, Row{3, 1, 2}, Row{8, 1, 7}, Row{9, 1, 8},
                         Row{64, 1, 8}, Row{9, 2, 4}, Row{9, 4, 2}, Row{2, 5, 1}}) {
    const std::vector<ModelConfig> models(row.models, ModelOn("cpu"));
    for (const Placement& placement : DecidePlacements(models, HostOf(row.cores))) {
      EXPECT_EQ(placement.lanes, row.lanes) << row.cores << " cores, " << row.models << " models";
      EXPECT_EQ(placement.processes.size(), 1u);
      EXPECT_EQ(placement.lane_depth, 1u);
      EXPECT_EQ(placement.processes[0], (DeviceShare{"cpu", 0}));
    }
  }
}

TEST(Placement, ALoneInferenceHasUpToEightCores) {
  struct Row {
    uint32_t cores;
    uint32_t threads;
    uint32_t shared;
  };
  for (const Row& row : {Row{1, 1, 1}, Row{2, 2, 2}, Row{3, 2, 2}, Row{9, 8, 8}, Row{33, 8, 32}}) {
    const Placement placement = Place(ModelOn("cpu"), HostOf(row.cores));
    EXPECT_EQ(placement.threads, row.threads) << row.cores;
    EXPECT_EQ(placement.cores, row.shared) << row.cores;
  }
  const std::vector<ModelConfig> two(2, ModelOn("cpu"));
  EXPECT_EQ(DecidePlacements(two, HostOf(2))[1].threads, 1u) << "each has a core";
}

TEST(Placement, WhereALanesPartIsMoreThanEightALoneInferenceHasThat) {
  ModelConfig model = ModelOn("cpu");
  model.placement.lanes = 1;
  EXPECT_EQ(Place(model, HostOf(33)).threads, 32u);
  model.placement.lanes = 2;
  EXPECT_EQ(Place(model, HostOf(33)).threads, 16u);
  EXPECT_EQ(Place(model, HostOf(33)).cores, 32u);
}

TEST(Placement, ThreadsThatTheConfigSetsAreNotSharedByLoad) {
  ModelConfig model = ModelOn("cpu");
  model.placement = {1, 3, 4};
  EXPECT_EQ(Place(model, HostOf(2)).cores, 12u);
}

TEST(Placement, ModelsWithAWeightAreEachPlacedOnTheCoresOfAllOfThem) {
  std::vector<ModelConfig> models(3, ModelOn("cpu"));
  models[0].lane_needs.weight = 1;
  models[1].lane_needs.weight = 9;
  const std::vector<Placement> two = DecidePlacements(absl::MakeSpan(models).first(2), HostOf(2));
  EXPECT_EQ(two[0].lanes, 2u);
  EXPECT_EQ(two[1].cores, 2u) << "whatever the weight";
  const std::vector<Placement> three = DecidePlacements(models, HostOf(6));
  EXPECT_EQ(three[0].lanes, 3u) << "of five cores two thirds";
  EXPECT_EQ(three[2].lanes, 1u) << "and a third for the one without a weight";
}

TEST(Placement, ModelsOnAGpuTakeNoShareOfTheCores) {
  const std::vector<ModelConfig> models = {ModelOn("cuda:0"), ModelOn("cpu"), ModelOn("mps")};
  EXPECT_EQ(DecidePlacements(models, HostOf(5))[1].lanes, 4u);
}

TEST(Placement, ASyntheticModelIsPlacedOnTheCpu) {
  ModelConfig model = ModelOn("cuda:0");
  model.format = ModelFormat::kSynthetic;
  EXPECT_EQ(Place(model, HostOf(9)).lanes, 8u);
  EXPECT_EQ(Place(model, HostOf(9)).lane_depth, 1u);
  EXPECT_EQ(DeviceOf(Place(model, HostOf(9))), "cpu");
}

TEST(Placement, ACudaModelGetsOneProcessWithAFewLanesAndAQueuedBatch) {
  for (const char* device : {"cuda", "cuda:1"}) {
    const Placement placement = Place(ModelOn(device), HostOf(2));
    EXPECT_EQ(placement.processes.size(), 1u);
    EXPECT_EQ(placement.lanes, 4u);
    EXPECT_EQ(placement.lane_depth, 2u);
  }
}

TEST(Placement, WithTheCudaMultiProcessServiceItGetsTwo) {
  HostFacts host = HostOf(8);
  host.cuda_mps = true;
  EXPECT_EQ(Place(ModelOn("cuda"), host).processes.size(), 2u);
  EXPECT_EQ(Place(ModelOn("mps"), HostOf(8)).processes.size(), 2u) << "Apple's is another thing";
}

TEST(Placement, AnMpsModelGetsProcessesOfOneLane) {
  for (const char* kind : {"", "stock", "upstream_pool", "upstream_guard"}) {
    HostFacts host = HostOf(16);
    host.runtime_kind = FromName<RuntimeKind>(kind);
    const Placement placement = Place(ModelOn("mps"), host);
    EXPECT_EQ(placement.processes.size(), 2u);
    EXPECT_EQ(placement.lanes, 1u) << kind;
    EXPECT_EQ(placement.lane_depth, 2u);
  }
}

TEST(Placement, LanesThatTheConfigNamesAreTheWorkersToJudge) {
  HostFacts host = HostOf(16);
  host.runtime_kind = RuntimeKind::kUpstreamGuard;
  ModelConfig model = ModelOn("mps");
  model.placement.lanes = 2;
  EXPECT_EQ(Place(model, host).lanes, 2u);
}

TEST(Placement, APatchedLibtorchGetsTwoLanesOnMps) {
  HostFacts host = HostOf(16);
  host.runtime_kind = RuntimeKind::kPatched;
  EXPECT_EQ(Place(ModelOn("mps"), host).lanes, 2u);
  EXPECT_EQ(Place(ModelOn("cuda"), host).lanes, 4u);
}

TEST(Placement, AnMpsModelGetsASecondProcessOnlyWhereAThirdFitsWhileOneIsReplaced) {
  HostFacts host = HostOf(8);
  host.working_set_bytes = 1000;
  host.file_bytes = {200};
  EXPECT_EQ(Place(ModelOn("mps"), host).processes.size(), 2u) << "3 × 200 are 60 % of 1000";
  host.file_bytes = {201};
  EXPECT_EQ(Place(ModelOn("mps"), host).processes.size(), 1u);
  host.file_bytes = {5000};
  EXPECT_EQ(Place(ModelOn("mps"), host).processes.size(), 1u) << "one there must be";
}

TEST(Placement, AutoIsWhatAWorkerSaysItIs) {
  HostFacts host = HostOf(5);
  EXPECT_EQ(Place(ModelOn("auto"), host).lanes, 4u);
  host.auto_device = "cuda:0";
  EXPECT_EQ(DeviceOf(Place(ModelOn("auto"), host)), "cuda:0");
  EXPECT_EQ(Place(ModelOn("auto"), host).lane_depth, 2u);
  EXPECT_EQ(DeviceOf(Place(ModelOn("cpu"), host)), "cpu");
}

TEST(Placement, TheProcessesOfADeviceShareItsMemory) {
  ModelConfig three = ModelOn("mps");
  three.placement.processes = 3;
  const std::vector<ModelConfig> models = {three, ModelOn("mps"), ModelOn("cuda:0"),
                                           ModelOn("cpu")};
  const std::vector<Placement> placements = DecidePlacements(models, HostOf(8));
  EXPECT_THAT(placements[0].processes, Each(DeviceShare{"mps", 20}));
  EXPECT_THAT(placements[1].processes, Each(DeviceShare{"mps", 20}));
  EXPECT_THAT(placements[2].processes, Each(DeviceShare{"cuda:0", 100}));
  EXPECT_THAT(placements[3].processes, Each(DeviceShare{"cpu", 0}));
}

TEST(Placement, CudaAndTheFirstCudaDeviceAreOne) {
  const std::vector<ModelConfig> models = {ModelOn("cuda"), ModelOn("cuda:0"), ModelOn("cuda:1")};
  const std::vector<Placement> placements = DecidePlacements(models, HostOf(8));
  EXPECT_EQ(placements[0].processes[0], (DeviceShare{"cuda", 50}));
  EXPECT_EQ(placements[1].processes[0], (DeviceShare{"cuda:0", 50}));
  EXPECT_EQ(placements[2].processes[0], (DeviceShare{"cuda:1", 100}));
}

// ---- several devices ----

TEST(Placement, AModelOnAllCudaDevicesHasAProcessOnEach) {
  const Placement placement = Place(ModelOn("cuda:all"), HostWithCuda(3));
  EXPECT_EQ(DevicesOf(placement), (Devices{"cuda:0", "cuda:1", "cuda:2"}));
  EXPECT_EQ(placement.lanes, 4u);
  EXPECT_EQ(placement.lane_depth, 2u);
  EXPECT_EQ(placement.device_note, "");
}

TEST(Placement, WithTheCudaMultiProcessServiceEachDeviceHasTwo) {
  HostFacts host = HostWithCuda(2);
  host.cuda_mps = true;
  EXPECT_EQ(DevicesOf(Place(ModelOn("cuda:all"), host)),
            (Devices{"cuda:0", "cuda:1", "cuda:0", "cuda:1"}));
}

TEST(Placement, ConfiguredProcessesTakeTheDevicesInTurn) {
  ModelConfig model = ModelOn("cuda:all");
  model.placement.processes = 5;
  EXPECT_EQ(DevicesOf(Place(model, HostWithCuda(3))),
            (Devices{"cuda:0", "cuda:1", "cuda:2", "cuda:0", "cuda:1"}));
  model.placement.processes = 2;
  EXPECT_EQ(DevicesOf(Place(model, HostWithCuda(3))), (Devices{"cuda:0", "cuda:1"}));
}

TEST(Placement, OfOneCudaDeviceAllAreThatOne) {
  for (const bool cuda_mps : {false, true}) {
    HostFacts host = HostWithCuda(1);
    host.cuda_mps = cuda_mps;
    const Placement all = Place(ModelOn("cuda:all"), host);
    const Placement first = Place(ModelOn("cuda:0"), host);
    EXPECT_EQ(all.processes, first.processes);
    EXPECT_EQ(all.lanes, first.lanes);
    EXPECT_EQ(all.lane_depth, first.lane_depth);
  }
}

TEST(Placement, WithoutACudaDeviceAllAreWhatCudaIs) {
  EXPECT_EQ(DevicesOf(Place(ModelOn("cuda:all"), HostOf(4))), Devices{"cuda"});
}

TEST(Placement, AListOfDevicesIsTakenAsItIs) {
  EXPECT_EQ(DevicesOf(Place(ModelOn("cuda:3,1"), HostOf(4))), (Devices{"cuda:3", "cuda:1"}))
      << "whatever a worker has said of the host";
}

TEST(Placement, AModelHasNoMoreProcessesThanAPoolTakes) {
  HostFacts host = HostWithCuda(40);
  host.cuda_mps = true;
  EXPECT_EQ(Place(ModelOn("cuda:all"), host).processes.size(), kMaxWorkers);
  EXPECT_EQ(Place(ModelOn("cuda:all"), HostWithCuda(200)).processes.size(), kMaxWorkers);
}

TEST(Placement, TheMemoryOfEachDeviceIsSharedByTheProcessesOnIt) {
  ModelConfig three = ModelOn("cuda:all");
  three.placement.processes = 3;
  const std::vector<ModelConfig> models = {three, ModelOn("cuda"), ModelOn("cuda:1"),
                                           ModelOn("cuda:2")};
  const std::vector<Placement> placements = DecidePlacements(models, HostWithCuda(2));
  EXPECT_EQ(placements[0].processes,
            (std::vector<DeviceShare>{{"cuda:0", 33}, {"cuda:1", 50}, {"cuda:0", 33}}));
  EXPECT_EQ(placements[1].processes, (std::vector<DeviceShare>{{"cuda", 33}}));
  EXPECT_EQ(placements[2].processes, (std::vector<DeviceShare>{{"cuda:1", 50}}));
  EXPECT_EQ(placements[3].processes, (std::vector<DeviceShare>{{"cuda:2", 100}}));
}

TEST(Placement, WhatTheConfigSaysIsTaken) {
  ModelConfig model = ModelOn("cpu");
  model.placement = {2, 3, 4};
  Placement placement = Place(model, HostOf(2));
  EXPECT_EQ(placement.processes.size(), 2u);
  EXPECT_EQ(placement.lanes, 3u);
  EXPECT_EQ(placement.threads, 4u);
  for (const char* device : {"cuda", "mps"}) {
    model.device = device;
    placement = Place(model, HostOf(2));
    EXPECT_EQ(placement.processes.size(), 2u) << device;
    EXPECT_EQ(placement.lanes, 3u) << device;
    EXPECT_EQ(placement.threads, 4u) << device;
  }
  model = ModelOn("cpu");
  model.placement = {4, 0, 0};
  placement = Place(model, HostOf(9));
  EXPECT_EQ(placement.lanes, 2u) << "the processes divide the model's share";
}

// A host of two memory nodes with four cores each, and a gpu beside the second one.
HostFacts HostOfTwoNodes() {
  HostFacts host = HostOf(8);
  host.nodes = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  host.cuda_devices = 2;
  host.gpu_nodes = {1, std::nullopt};
  return host;
}

TEST(PlacementOnNodes, AModelOfMoreCoresThanANodeHasAProcessOnEach) {
  const HostFacts host = HostOfTwoNodes();
  const Placement placement = Place(ModelOn("cpu"), host);
  ASSERT_EQ(placement.processes.size(), 2u);
  EXPECT_EQ(placement.processes[0].cores, host.nodes[0]);
  EXPECT_EQ(placement.processes[1].cores, host.nodes[1]);
  EXPECT_EQ(placement.cores, 3u) << "half of the seven that the front end leaves";
}

TEST(PlacementOnNodes, ModelsThatComeOutEvenTakeTheNodesInTurn) {
  const HostFacts host = HostOfTwoNodes();
  std::vector<ModelConfig> models(2, ModelOn("cpu"));
  models[0].name = "b";
  models[1].name = "a";
  const std::vector<Placement> two = DecidePlacements(models, host);
  EXPECT_EQ(two[0].processes, (std::vector<DeviceShare>{{"cpu", 0, host.nodes[1]}}));
  EXPECT_EQ(two[1].processes, (std::vector<DeviceShare>{{"cpu", 0, host.nodes[0]}}));
  models.push_back(ModelOn("cpu"));
  for (const Placement& placement : DecidePlacements(models, host)) {
    EXPECT_EQ(placement.processes, (std::vector<DeviceShare>{{"cpu", 0}})) << "one node has two";
  }
}

TEST(PlacementOnNodes, AProcessThatNeedsMoreCoresThanANodeKeepsToNone) {
  const HostFacts host = HostOfTwoNodes();
  ModelConfig model = ModelOn("cpu");
  model.placement.processes = 1;
  EXPECT_EQ(Place(model, host).processes, (std::vector<DeviceShare>{{"cpu", 0}}));
  model.placement = {2, 5, 1};
  EXPECT_EQ(Place(model, host).processes, (std::vector<DeviceShare>{{"cpu", 0}, {"cpu", 0}}));
  model.placement = {3, 1, 1};
  EXPECT_THAT(Place(model, host).processes, Each(DeviceShare{"cpu", 0})) << "one node has two";
  model.placement = {};
  model.lane_needs.weight = 2;
  EXPECT_EQ(Place(model, host).processes, (std::vector<DeviceShare>{{"cpu", 0}})) << "by turns";
}

TEST(PlacementOnNodes, AProcessOnAGpuKeepsToTheGpusNode) {
  const HostFacts host = HostOfTwoNodes();
  EXPECT_EQ(Place(ModelOn("cuda"), host).processes[0].cores, host.nodes[1]);
  const Placement both = Place(ModelOn("cuda:all"), host);
  ASSERT_EQ(both.processes.size(), 2u);
  EXPECT_EQ(both.processes[0].cores, host.nodes[1]);
  EXPECT_TRUE(both.processes[1].cores.empty()) << "its node is not known";
  EXPECT_TRUE(Place(ModelOn("cuda:7"), host).processes[0].cores.empty());
}

}  // namespace
}  // namespace mpsd
