#include "tests/metal/rules/host_writes.h"

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

class HostWritesTest : public RuleTest {
 protected:
  GpuWrites writes_;
  char bytes_[13] = "twelve bytes";
};

TEST_F(HostWritesTest, BytesThatTheHostLeavesAlone) {
  HostWrites(writes_, bytes_, sizeof(bytes_)).CheckBeforeRead();
  EXPECT_EQ(Total(), 0U);
}

TEST_F(HostWritesTest, AChangedByteBreaksTheRule) {
  for (const size_t at : {size_t{0}, size_t{7}, size_t{12}}) {
    const HostWrites watch(writes_, bytes_, sizeof(bytes_));
    ++bytes_[at];
    watch.CheckBeforeRead();
  }
  EXPECT_EQ(Count(kHostWrite), 3U);
}

TEST_F(HostWritesTest, TheGpuMayWriteBeforeItReads) {
  ++writes_.committed;
  const HostWrites before(writes_, bytes_, sizeof(bytes_));
  ++writes_.done;
  const HostWrites after(writes_, bytes_, sizeof(bytes_));
  ++writes_.committed;
  ++bytes_[0];
  before.CheckBeforeRead();
  after.CheckBeforeRead();
  EXPECT_EQ(Total(), 0U);
}

}  // namespace
}  // namespace mpsd::standin
