#include "server/placement.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

ModelConfig ModelOn(const std::string& device) {
  ModelConfig model;
  model.device = device;
  return model;
}

TEST(Placement, ACpuModelGetsALaneForEachCoreOfItsShareButOne) {
  struct Row {
    uint32_t cores;
    uint32_t models;
    uint32_t lanes;
  };
  for (const Row& row : {Row{1, 1, 1}, Row{2, 1, 1}, Row{3, 1, 2}, Row{8, 1, 7}, Row{9, 1, 8},
                         Row{64, 1, 8}, Row{9, 2, 4}, Row{9, 4, 2}, Row{2, 5, 1}, Row{8, 0, 7}}) {
    const Placement placement = DecidePlacement(ModelOn("cpu"), row.cores, row.models);
    EXPECT_EQ(placement.lanes, row.lanes) << row.cores << " cores, " << row.models << " models";
    EXPECT_EQ(placement.processes, 1u);
    EXPECT_EQ(placement.threads, 1u);
    EXPECT_EQ(placement.lane_depth, 1u);
  }
}

TEST(Placement, ASyntheticModelIsPlacedAsOnACpu) {
  ModelConfig model = ModelOn("cuda:0");
  model.format = ModelFormat::kSynthetic;
  EXPECT_EQ(DecidePlacement(model, 9, 1).lanes, 8u);
  EXPECT_EQ(DecidePlacement(model, 9, 1).lane_depth, 1u);
}

TEST(Placement, ACudaModelGetsOneProcessWithAFewLanesAndAQueuedBatch) {
  for (const char* device : {"cuda", "cuda:1"}) {
    const Placement placement = DecidePlacement(ModelOn(device), 2, 3);
    EXPECT_EQ(placement.processes, 1u);
    EXPECT_EQ(placement.lanes, 4u);
    EXPECT_EQ(placement.lane_depth, 2u);
  }
}

TEST(Placement, AnMpsModelGetsProcessesOfOneLane) {
  const Placement placement = DecidePlacement(ModelOn("mps"), 16, 1);
  EXPECT_EQ(placement.processes, 2u);
  EXPECT_EQ(placement.lanes, 1u);
  EXPECT_EQ(placement.lane_depth, 2u);
}

#if !defined(__APPLE__)
TEST(Placement, AutoIsTheCpuHere) {
  EXPECT_EQ(DecidePlacement(ModelOn("auto"), 5, 1).lanes, 4u);
  EXPECT_EQ(DecidePlacement(ModelOn("auto"), 5, 1).lane_depth, 1u);
}
#endif

TEST(Placement, WhatTheConfigSaysIsTaken) {
  ModelConfig model = ModelOn("cpu");
  model.placement = {2, 3, 4};
  Placement placement = DecidePlacement(model, 2, 1);
  EXPECT_EQ(placement.processes, 2u);
  EXPECT_EQ(placement.lanes, 3u);
  EXPECT_EQ(placement.threads, 4u);
  model.placement = {4, 0, 0};
  placement = DecidePlacement(model, 9, 1);
  EXPECT_EQ(placement.lanes, 2u) << "the processes divide the model's share";
}

}  // namespace
}  // namespace mpsd
