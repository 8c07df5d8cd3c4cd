#include "proto/base/memory_nodes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mpsd {
namespace {

// A folder as the kernel's /sys, as far as nodes go.
class MemoryNodesTest : public testing::Test {
 protected:
  MemoryNodesTest() : sysfs_(testing::TempDir() + "mpsd_nodes_" + std::to_string(getpid())) {}
  ~MemoryNodesTest() override { std::filesystem::remove_all(sysfs_); }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = sysfs_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  using Cores = std::vector<std::vector<uint32_t>>;
  Cores CoresOf(const std::vector<uint32_t>& allowed) const {
    return MemoryNodes(sysfs_, allowed).cores();
  }

  const std::string sysfs_;
};

TEST_F(MemoryNodesTest, EachNodeHasItsAllowedCores) {
  Write("devices/system/node/node10/cpulist", "8\n");
  Write("devices/system/node/node0/cpulist", "0-2,6\n");
  Write("devices/system/node/node1/cpulist", "3-5\n");
  Write("devices/system/node/node2/cpulist", "\n");
  Write("devices/system/node/has_cpu", "0-1\n");
  EXPECT_EQ(CoresOf({0, 1, 2, 4, 6, 8}), (Cores{{0, 1, 2, 6}, {4}, {8}}));
  EXPECT_EQ(CoresOf({4}), (Cores{{4}})) << "a node without an allowed core is none";
}

TEST_F(MemoryNodesTest, AHostThatTellsNothingHasNoNode) {
  EXPECT_TRUE(CoresOf({0, 1}).empty());
  Write("devices/system/node/node0/cpulist", "all\n");
  Write("devices/system/node/node1/cpulist", "1-x,-,4294967296\n");
  EXPECT_TRUE(CoresOf({0, 1}).empty());
}

TEST_F(MemoryNodesTest, AGpuIsBesideTheNodeThatTheKernelNames) {
  Write("devices/system/node/node0/cpulist", "0\n");
  Write("devices/system/node/node2/cpulist", "1\n");
  Write("devices/system/node/node3/cpulist", "2\n");
  Write("bus/pci/devices/0000:1b:00.0/numa_node", "2\n");
  Write("bus/pci/devices/0000:1c:00.0/numa_node", "-1\n");
  Write("bus/pci/devices/0000:1d:00.0/numa_node", "3\n");
  const MemoryNodes nodes(sysfs_, {0, 1});
  EXPECT_EQ(nodes.NodeOfGpu("0000:1B:00.0"), 1u);
  EXPECT_EQ(nodes.NodeOfGpu("0000:1C:00.0"), std::nullopt);
  EXPECT_EQ(nodes.NodeOfGpu("0000:1D:00.0"), std::nullopt) << "no core of its node is allowed";
  EXPECT_EQ(nodes.NodeOfGpu(""), std::nullopt);
}

}  // namespace
}  // namespace mpsd
