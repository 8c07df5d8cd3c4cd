#include "server/regions/client_regions.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/regions/request_regions.h"
#include "server/request/retry_info.h"
#include "tests/fakes/fake_device_copier.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A client's object, which is removed at the end.
class NamedObject {
 public:
  explicit NamedObject(absl::string_view suffix, uint64_t bytes = 1 << 16)
      : key_(absl::StrCat("/mpsd-test-", getpid(), "-", suffix)),
        fd_(shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600)) {
    EXPECT_TRUE(fd_.valid());
    Resize(bytes);
  }
  ~NamedObject() { shm_unlink(key_.c_str()); }

  const std::string& key() const { return key_; }
  void Resize(uint64_t bytes) { EXPECT_EQ(ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0); }
  void Put(uint64_t offset, absl::string_view text) {
    EXPECT_TRUE(
        platform::WriteNamedMemory(fd_.get(), offset, absl::MakeConstSpan(text.data(), text.size()))
            .ok());
  }
  std::string Get(uint64_t offset, size_t bytes) {
    std::string text(bytes, '\0');
    EXPECT_TRUE(platform::ReadNamedMemory(fd_.get(), offset, absl::MakeSpan(&text[0], bytes)).ok());
    return text;
  }
  uint64_t bytes() const {
    struct stat info {};
    EXPECT_EQ(fstat(fd_.get(), &info), 0);
    return static_cast<uint64_t>(info.st_size);
  }

 private:
  const std::string key_;
  const UniqueFd fd_;
};

class Connection {
 public:
  explicit Connection(absl::string_view peer = "ipv4:127.0.0.1:1")
      : mark_(std::make_shared<ConnectionMark>(peer)) {}

  ConnectionId id() const { return mark_; }
  void End() { mark_->End(); }

 private:
  const std::shared_ptr<ConnectionMark> mark_;
};

class ClientRegionsTest : public testing::Test {
 protected:
  absl::Status Register(const Connection& connection, std::string name, const NamedObject& object,
                        uint64_t offset, uint64_t bytes) {
    return regions_.Register(connection.id(), {std::move(name), object.key(), offset, bytes});
  }

  absl::Status RegisterDevice(const Connection& connection, std::string name, std::string handle,
                              uint64_t bytes) {
    RegionSpec spec;
    spec.name = std::move(name);
    spec.handle = std::move(handle);
    spec.bytes = bytes;
    int answers = 0;
    absl::Status answer;
    regions_.RegisterDevice(connection.id(), std::move(spec), [&](const absl::Status& status) {
      ++answers;
      answer = status;
    });
    copier_.RunTasks();
    EXPECT_EQ(answers, 1);
    return answer;
  }

  absl::Status Load(std::vector<RegionUse> uses) {
    return request_.Load(uses, a_.id(), &regions_, &message_);
  }

  ServerMetrics metrics_;
  FakeDeviceCopier copier_;
  ClientRegions regions_{{1 << 20, 1000, 4096, 16 * 4096}, &copier_, &metrics_};
  Connection a_;
  Connection b_;
  NamedObject object_{"a"};
  RequestRegions request_;
  InferMessage message_;
};

TEST_F(ClientRegionsTest, AConnectionSeesItsOwnAlone) {
  ASSERT_TRUE(Register(a_, "mine", object_, 0, 64).ok());
  ASSERT_TRUE(Register(b_, "mine", object_, 64, 64).ok());
  EXPECT_EQ((*regions_.Find(a_.id(), "mine"))->spec().offset, 0u);
  EXPECT_EQ((*regions_.Find(b_.id(), "mine"))->spec().offset, 64u);
  ASSERT_TRUE(Register(b_, "other", object_, 128, 64).ok());
  EXPECT_EQ(regions_.Find(a_.id(), "other").status(),
            absl::NotFoundError("Unable to find shared memory region: 'other'"));
  EXPECT_EQ(regions_.List(a_.id(), RegionKind::kObject).size(), 1u);
  regions_.Unregister(a_.id(), RegionKind::kObject, "");
  EXPECT_THAT(regions_.List(a_.id(), RegionKind::kObject), IsEmpty());
  EXPECT_EQ(regions_.List(b_.id(), RegionKind::kObject).size(), 2u);
  EXPECT_EQ(metrics_.client_regions, 2);
  EXPECT_EQ(metrics_.client_region_bytes, 128);
}

TEST_F(ClientRegionsTest, NoTwoOverlap) {
  ASSERT_TRUE(Register(a_, "a", object_, 64, 64).ok());
  for (const auto& [offset, bytes] :
       {std::pair<uint64_t, uint64_t>{64, 64}, {0, 65}, {127, 1}, {0, 256}}) {
    EXPECT_TRUE(absl::IsAlreadyExists(Register(b_, "b", object_, offset, bytes))) << offset;
  }
  EXPECT_TRUE(Register(b_, "before", object_, 0, 64).ok());
  EXPECT_TRUE(Register(b_, "after", object_, 128, 64).ok());
  const NamedObject other("b");
  EXPECT_TRUE(Register(b_, "elsewhere", other, 64, 64).ok());
}

TEST_F(ClientRegionsTest, GoWithTheirConnection) {
  ASSERT_TRUE(Register(a_, "a", object_, 0, 64).ok());
  ASSERT_TRUE(Register(b_, "b", object_, 64, 64).ok());
  const auto used = regions_.Find(a_.id(), "a");
  a_.End();
  regions_.Sweep();
  EXPECT_TRUE(absl::IsNotFound(regions_.Find(a_.id(), "a").status()));
  EXPECT_TRUE(regions_.Find(b_.id(), "b").ok());
  EXPECT_EQ(metrics_.client_regions, 1);
  EXPECT_EQ(metrics_.client_region_bytes, 64);
  // A request that uses it meanwhile goes on.
  char byte = 'x';
  EXPECT_TRUE((*used)->Read(0, absl::MakeSpan(&byte, 1)).ok());
}

TEST_F(ClientRegionsTest, ClientsOfOtherHostsHaveNone) {
  for (const char* peer : {"ipv4:192.0.2.1:1", "ipv6:[2001:db8::1]:1"}) {
    EXPECT_EQ(Register(Connection(peer), "a", object_, 0, 64),
              absl::FailedPreconditionError("shared memory is registered by clients on this host"));
  }
  for (const char* peer : {"ipv6:[::1]:1", "unix:"}) {
    const Connection local(peer);
    EXPECT_TRUE(Register(local, "a", object_, 0, 64).ok()) << peer;
    regions_.Unregister(local.id(), RegionKind::kObject, "a");
  }
}

TEST_F(ClientRegionsTest, AllTogetherAreBounded) {
  const NamedObject large("c", 2 << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(Register(a_, "a", large, 0, (1 << 20) + 1)));
  ASSERT_TRUE(Register(a_, "a", large, 0, 1 << 20).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Register(b_, "b", large, 1 << 20, 1)));
  regions_.Unregister(a_.id(), RegionKind::kObject, "a");
  EXPECT_TRUE(Register(b_, "b", large, 1 << 20, 1).ok());
}

TEST_F(ClientRegionsTest, AConnectionHasSoManyAndNoMore) {
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(Register(a_, absl::StrCat("r", i), object_, i, 1).ok()) << i;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Register(a_, "r64", object_, 64, 1)));
  EXPECT_TRUE(Register(b_, "r64", object_, 64, 1).ok());
}

// Each of them keeps a descriptor.
TEST_F(ClientRegionsTest, AllConnectionsHaveSoManyAndNoMore) {
  rlimit descriptors{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = std::max<rlim_t>(descriptors.rlim_cur, 2048);
  if (setrlimit(RLIMIT_NOFILE, &descriptors) != 0) GTEST_SKIP() << "too few descriptors";
  std::vector<std::unique_ptr<Connection>> connections;
  for (uint64_t i = 0; i < 1024; ++i) {
    if (i % 64 == 0) connections.push_back(std::make_unique<Connection>());
    ASSERT_TRUE(Register(*connections.back(), absl::StrCat("r", i), object_, i, 1).ok()) << i;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Register(a_, "a", object_, 1024, 1)));
  regions_.Unregister(connections.front()->id(), RegionKind::kObject, "r0");
  EXPECT_TRUE(Register(a_, "a", object_, 1024, 1).ok());
}

TEST_F(ClientRegionsTest, CopiesAreBounded) {
  EXPECT_TRUE(regions_.copies()->TryTake(16 * 4096));
  EXPECT_FALSE(regions_.copies()->TryTake(1));
  ASSERT_TRUE(Register(a_, "a", object_, 0, 64).ok());
  message_.inputs.emplace_back();
  EXPECT_EQ(Load({{false, 0, "a", 0, 64}}),
            Busy("too many inputs in shared memory are being copied"));
  regions_.copies()->GiveBack(64);
  EXPECT_TRUE(Load({{false, 0, "a", 0, 64}}).ok());
  EXPECT_FALSE(regions_.copies()->TryTake(1));
  request_.Clear();
  EXPECT_TRUE(regions_.copies()->TryTake(64));
}

TEST_F(ClientRegionsTest, ARequestIsBounded) {
  message_.inputs.resize(2);
  EXPECT_TRUE(absl::IsResourceExhausted(Load({{false, 0, "a", 0, 4096}, {false, 1, "a", 0, 1}})));
  EXPECT_TRUE(
      absl::IsResourceExhausted(Load({{false, 0, "a", 0, 2}, {false, 1, "a", 0, ~uint64_t{0}}})));
}

TEST_F(ClientRegionsTest, InputsAreCopied) {
  ASSERT_TRUE(Register(a_, "a", object_, 8, 64).ok());
  object_.Put(12, "before");
  message_.inputs.emplace_back();
  ASSERT_TRUE(Load({{false, 0, "a", 4, 6}}).ok());
  object_.Put(12, "after!");
  ASSERT_TRUE(message_.inputs[0].has_data);
  EXPECT_EQ(message_.inputs[0].payload.bytes, 6u);
  EXPECT_THAT(message_.inputs[0].payload.pieces, ElementsAre("before"));
}

TEST_F(ClientRegionsTest, OutputsAreWritten) {
  ASSERT_TRUE(Register(a_, "a", object_, 8, 64).ok());
  message_.outputs.push_back("y");
  ASSERT_TRUE(Load({{true, 0, "a", 4, 10}}).ok());
  Answer answer;
  answer.outputs.resize(2);
  answer.outputs[0].name = "x";
  answer.outputs[0].bytes = "remains";
  answer.outputs[1].name = "y";
  answer.outputs[1].bytes = "0123456789";
  ASSERT_TRUE(request_.Store(&answer).ok());
  EXPECT_EQ(object_.Get(12, 10), "0123456789");
  EXPECT_EQ(answer.outputs[0].bytes, "remains");
  EXPECT_EQ(answer.outputs[0].region.name, "");
  EXPECT_EQ(answer.outputs[1].bytes, "");
  EXPECT_EQ(answer.outputs[1].region.name, "a");
  EXPECT_EQ(answer.outputs[1].region.offset, 4u);
  EXPECT_EQ(answer.outputs[1].region.bytes, 10u);
  answer.outputs[1].bytes = "01234567890";
  EXPECT_THAT(std::string(request_.Store(&answer).message()),
              HasSubstr("output 'y' (10 bytes) should be at least 11 bytes"));
}

TEST_F(ClientRegionsTest, AnObjectThatShrinksIsAnErrorOfTheRequest) {
  ASSERT_TRUE(Register(a_, "a", object_, 0, 8192).ok());
  const auto region = *regions_.Find(a_.id(), "a");
  object_.Resize(4096);
  char bytes[16] = {};
  EXPECT_TRUE(region->Read(4080, absl::MakeSpan(bytes)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(region->Read(4081, absl::MakeSpan(bytes))));
  EXPECT_TRUE(absl::IsInvalidArgument(region->Write(4081, absl::MakeConstSpan(bytes))));
  EXPECT_TRUE(region->Write(4080, absl::MakeConstSpan(bytes)).ok());
  // It is given no memory back that its owner has taken away.
  EXPECT_EQ(object_.bytes(), 4096u);
}

TEST_F(ClientRegionsTest, RangesAreHeldToTheRegion) {
  ASSERT_TRUE(Register(a_, "a", object_, 100, 64).ok());
  const auto region = *regions_.Find(a_.id(), "a");
  EXPECT_TRUE(region->CheckRange(0, 64).ok());
  EXPECT_TRUE(region->CheckRange(64, 0).ok());
  EXPECT_THAT(std::string(region->CheckRange(65, 0).message()), HasSubstr("Invalid offset for"));
  EXPECT_THAT(std::string(region->CheckRange(1, 64).message()),
              HasSubstr("Invalid offset + byte size for"));
  EXPECT_FALSE(region->CheckRange(1, ~uint64_t{0}).ok());
}

TEST_F(ClientRegionsTest, ARequestIsHeldToTheRegion) {
  ASSERT_TRUE(Register(a_, "a", object_, 100, 64).ok());
  message_.inputs.emplace_back();
  message_.outputs.push_back("y");
  for (const bool is_output : {false, true}) {
    EXPECT_TRUE(Load({{is_output, 0, "a", 0, 64}}).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(Load({{is_output, 0, "a", 1, 64}})));
    EXPECT_TRUE(absl::IsInvalidArgument(Load({{is_output, 0, "a", 65, 0}})));
  }
}

TEST_F(ClientRegionsTest, ANameIsUsedOnce) {
  ASSERT_TRUE(Register(a_, "a", object_, 0, 1).ok());
  EXPECT_EQ(Register(a_, "a", object_, 8, 1),
            absl::AlreadyExistsError("shared memory region 'a' already in manager"));
}

class DeviceRegionsTest : public ClientRegionsTest {
 protected:
  DeviceRegionsTest() {
    copier_.memories = {{'a', std::string(600, '.')}, {'b', std::string(600, '.')}};
  }
};

TEST_F(DeviceRegionsTest, AreOpenedByTheCopierAndClosedWhenNobodyUsesThem) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  EXPECT_EQ(copier_.opened.size(), 1u);
  const auto used = regions_.Find(a_.id(), "gpu").value();
  EXPECT_TRUE(used->is_device());
  regions_.Unregister(a_.id(), RegionKind::kDevice, "gpu");
  EXPECT_EQ(copier_.opened.size(), 1u);
}

TEST_F(DeviceRegionsTest, GoWithTheirConnection) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  a_.End();
  regions_.Sweep();
  EXPECT_THAT(copier_.opened, IsEmpty());
  EXPECT_EQ(metrics_.client_regions, 0);
  EXPECT_EQ(metrics_.client_region_bytes, 0);
}

TEST_F(DeviceRegionsTest, WhatIsWrongIsSaidWithTheName) {
  EXPECT_EQ(
      RegisterDevice(a_, "gpu", "short", 600),
      absl::InvalidArgumentError("failed to register shared memory region 'gpu': a raw handle "
                                 "has 64 bytes"));
  EXPECT_EQ(
      RegisterDevice(a_, "gpu", FakeHandle('x'), 600),
      absl::InvalidArgumentError("failed to register shared memory region 'gpu': it is not there"));
  EXPECT_TRUE(absl::IsInvalidArgument(RegisterDevice(a_, "gpu", FakeHandle('a'), 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(RegisterDevice(a_, "", FakeHandle('a'), 1)));
  copier_.refusal = absl::UnavailableError("Server exiting");
  EXPECT_TRUE(absl::IsUnavailable(RegisterDevice(a_, "gpu", FakeHandle('a'), 600)));
}

TEST_F(DeviceRegionsTest, NoTwoAreOfOneAllocation) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 10).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(RegisterDevice(b_, "theft", FakeHandle('a'), 10)));
  EXPECT_TRUE(RegisterDevice(b_, "gpu", FakeHandle('b'), 10).ok());
  EXPECT_EQ(copier_.opened.size(), 2u);
}

TEST_F(DeviceRegionsTest, AllTogetherAreBoundedApartFromObjects) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(RegisterDevice(b_, "gpu", FakeHandle('b'), 401)));
  EXPECT_TRUE(Register(a_, "object", object_, 0, 1 << 14).ok());
  EXPECT_TRUE(RegisterDevice(b_, "gpu", FakeHandle('b'), 400).ok());
  EXPECT_EQ(metrics_.client_region_bytes, 1000 + (1 << 14));
}

TEST_F(DeviceRegionsTest, BothKindsShareTheNames) {
  ASSERT_TRUE(RegisterDevice(a_, "one", FakeHandle('a'), 8).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Register(a_, "one", object_, 0, 8)));
  ASSERT_TRUE(Register(a_, "two", object_, 0, 8).ok());
  EXPECT_EQ(regions_.List(a_.id(), RegionKind::kDevice).size(), 1u);
  EXPECT_EQ(regions_.List(a_.id(), RegionKind::kObject).size(), 1u);
  regions_.Unregister(a_.id(), RegionKind::kObject, "one");
  EXPECT_TRUE(regions_.Find(a_.id(), "one").ok());
  regions_.Unregister(a_.id(), RegionKind::kDevice, "");
  EXPECT_FALSE(regions_.Find(a_.id(), "one").ok());
  EXPECT_TRUE(regions_.Find(a_.id(), "two").ok());
}

TEST_F(DeviceRegionsTest, InputsComeInASecondStep) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  copier_.memories['a'].replace(10, 5, "bytes");
  message_.inputs.emplace_back();
  ASSERT_TRUE(Load({{false, 0, "gpu", 10, 5}}).ok());
  ASSERT_TRUE(request_.awaits_device());
  ASSERT_TRUE(request_.LoadFromDevice().ok());
  EXPECT_THAT(message_.inputs[0].payload.pieces, ElementsAre("bytes"));
  copier_.fault = absl::UnavailableError("gone");
  EXPECT_EQ(request_.LoadFromDevice(), copier_.fault);
  request_.Clear();
  EXPECT_FALSE(request_.awaits_device());
}

TEST_F(DeviceRegionsTest, OutputsGoInASecondStep) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  message_.outputs.push_back("y");
  ASSERT_TRUE(Load({{true, 0, "gpu", 4, 10}}).ok());
  EXPECT_FALSE(request_.awaits_device());
  Answer answer;
  answer.outputs.resize(1);
  answer.outputs[0].name = "y";
  std::string bytes = "0123456789";
  answer.outputs[0].bytes = bytes;
  ASSERT_TRUE(request_.Store(&answer).ok());
  bytes = "not valid beyond Store()";
  EXPECT_EQ(answer.outputs[0].region.name, "gpu");
  EXPECT_EQ(answer.outputs[0].bytes, "");
  ASSERT_TRUE(request_.has_device_outputs());
  EXPECT_EQ(copier_.memories['a'][4], '.');
  EXPECT_FALSE(regions_.copies()->TryTake(16 * 4096 - 9));
  request_.DropInputs();
  ASSERT_TRUE(request_.StoreToDevice().ok());
  EXPECT_EQ(copier_.memories['a'].substr(3, 12), ".0123456789.");
  EXPECT_FALSE(request_.has_device_outputs());
  EXPECT_TRUE(regions_.copies()->TryTake(16 * 4096));
}

TEST_F(DeviceRegionsTest, CopiesOfOutputsAreBoundedToo) {
  ASSERT_TRUE(RegisterDevice(a_, "gpu", FakeHandle('a'), 600).ok());
  ASSERT_TRUE(regions_.copies()->TryTake(16 * 4096));
  message_.outputs.push_back("y");
  ASSERT_TRUE(Load({{true, 0, "gpu", 0, 10}}).ok());
  Answer answer;
  answer.outputs.resize(1);
  answer.outputs[0].name = "y";
  answer.outputs[0].bytes = "x";
  EXPECT_EQ(request_.Store(&answer), Busy("too many outputs in shared memory are being copied"));
}

TEST(ClientRegions, TakeNoneUnlessTold) {
  ServerMetrics metrics;
  const ClientRegions regions({0, 0, 4096, 4096}, nullptr, &metrics);
  EXPECT_FALSE(regions.Takes(RegionKind::kObject));
  EXPECT_FALSE(regions.Takes(RegionKind::kDevice));
}

}  // namespace
}  // namespace mpsd
