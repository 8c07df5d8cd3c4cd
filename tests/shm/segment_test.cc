#include "proto/shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <utility>

#include "proto/base/fd.h"

namespace mpsd {
namespace {

uint64_t Page() { return platform::PageBytes(); }

OwnedSegment Create(SegmentKind kind, uint32_t epoch = 0) {
  return OwnedSegment::Create(kind, 2 * Page(), epoch).value();
}

// The descriptor that another process gets, one of its own.
UniqueFd PeerFd(const OwnedSegment& segment) { return UniqueFd(dup(segment.peer_fd())); }

const SegmentHeader& HeaderOf(const char* data) {
  return *reinterpret_cast<const SegmentHeader*>(data);
}

class FrontWrittenSegment : public testing::TestWithParam<SegmentKind> {};

INSTANTIATE_TEST_SUITE_P(Each, FrontWrittenSegment,
                         testing::Values(SegmentKind::kSlabs, SegmentKind::kMailbox));

TEST_P(FrontWrittenSegment, HasItsHeaderFromTheStart) {
  const OwnedSegment segment = Create(GetParam(), 7);
  EXPECT_EQ(segment.bytes(), 2 * Page());
  EXPECT_TRUE(CheckHeader(HeaderOf(segment.data()), GetParam(), 2 * Page()).ok());
  EXPECT_EQ(HeaderOf(segment.data()).epoch, 7u);
}

TEST_P(FrontWrittenSegment, IsReadByItsPeer) {
  const OwnedSegment segment = Create(GetParam());
  const auto mapped = MappedSegment::Map(PeerFd(segment), 2 * Page(), /*writable=*/false).value();
  segment.data()[2 * Page() - 1] = 'x';
  EXPECT_EQ(mapped.data()[2 * Page() - 1], 'x');
  EXPECT_EQ(mapped.bytes(), 2 * Page());
}

TEST_P(FrontWrittenSegment, CannotBeMappedWritableByItsPeer) {
  const OwnedSegment segment = Create(GetParam());
  EXPECT_FALSE(MappedSegment::Map(PeerFd(segment), 2 * Page(), /*writable=*/true).ok());
}

TEST_P(FrontWrittenSegment, CannotBeMadeWritableOnceMapped) {
  const OwnedSegment segment = Create(GetParam());
  const auto mapped = MappedSegment::Map(PeerFd(segment), 2 * Page(), /*writable=*/false).value();
  EXPECT_NE(mprotect(mapped.data(), Page(), PROT_READ | PROT_WRITE), 0);
}

TEST_P(FrontWrittenSegment, CannotBeWrittenThroughItsDescriptor) {
  const OwnedSegment segment = Create(GetParam());
  EXPECT_EQ(pwrite(segment.peer_fd(), "x", 1, 0), -1);
}

class Segment : public testing::TestWithParam<SegmentKind> {};

INSTANTIATE_TEST_SUITE_P(Each, Segment,
                         testing::Values(SegmentKind::kSlabs, SegmentKind::kMailbox,
                                         SegmentKind::kWorker));

TEST_P(Segment, CannotBeTruncatedOrGrownByItsPeer) {
  const OwnedSegment segment = Create(GetParam());
  EXPECT_NE(ftruncate(segment.peer_fd(), 0), 0);
  EXPECT_NE(ftruncate(segment.peer_fd(), static_cast<off_t>(3 * Page())), 0);
  EXPECT_EQ(lseek(segment.peer_fd(), 0, SEEK_END), static_cast<off_t>(2 * Page()));
}

TEST_P(Segment, SmallerThanAnnouncedIsNotMapped) {
  const OwnedSegment segment = Create(GetParam());
  EXPECT_FALSE(MappedSegment::Map(PeerFd(segment), 3 * Page(), /*writable=*/false).ok());
}

TEST_P(Segment, StaysMappedWhenItIsMoved) {
  OwnedSegment first = Create(GetParam());
  const char* data = first.data();
  const OwnedSegment second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.bytes(), 2 * Page());
  EXPECT_EQ(second.data()[Page()], 0);
}

TEST(WorkerSegment, IsWrittenByItsPeerAndSeenByItsOwner) {
  const OwnedSegment segment = Create(SegmentKind::kWorker);
  EXPECT_EQ(HeaderOf(segment.data()).magic, 0u);
  const auto mapped = MappedSegment::Map(PeerFd(segment), 2 * Page(), /*writable=*/true).value();
  WriteHeader(reinterpret_cast<SegmentHeader*>(mapped.data()), SegmentKind::kWorker, 2 * Page(), 3);
  EXPECT_TRUE(CheckHeader(HeaderOf(segment.data()), SegmentKind::kWorker, 2 * Page()).ok());
  EXPECT_EQ(HeaderOf(segment.data()).epoch, 3u);
}

TEST(WorkerSegmentDeathTest, IsReadOnlyForItsOwner) {
  const OwnedSegment segment = Create(SegmentKind::kWorker);
  EXPECT_DEATH(*const_cast<volatile char*>(segment.data()) = 'x', "");
}

TEST(MappedSegment, StaysMappedWhenItIsMoved) {
  const OwnedSegment segment = Create(SegmentKind::kSlabs);
  auto first = MappedSegment::Map(PeerFd(segment), 2 * Page(), /*writable=*/false).value();
  const MappedSegment second = std::move(first);
  EXPECT_EQ(HeaderOf(second.data()).magic, kSegmentMagic);
}

TEST(MappedSegment, OutlivesItsDescriptorAndItsOwner) {
  auto segment = std::make_unique<OwnedSegment>(Create(SegmentKind::kSlabs));
  segment->data()[Page()] = 'x';
  const auto mapped = MappedSegment::Map(PeerFd(*segment), 2 * Page(), /*writable=*/false).value();
  segment.reset();
  EXPECT_EQ(mapped.data()[Page()], 'x');
}

TEST(MappedSegment, NeedsADescriptor) {
  EXPECT_FALSE(MappedSegment::Map(UniqueFd(), Page(), /*writable=*/false).ok());
}

// ---- headers ----

struct HeaderCase {
  const char* name;
  std::function<void(SegmentHeader*)> change;
};

class ForeignHeader : public testing::TestWithParam<HeaderCase> {};

TEST_P(ForeignHeader, IsRefused) {
  SegmentHeader header{};
  WriteHeader(&header, SegmentKind::kMailbox, 4096, 5);
  ASSERT_TRUE(CheckHeader(header, SegmentKind::kMailbox, 4096).ok());
  GetParam().change(&header);
  EXPECT_EQ(CheckHeader(header, SegmentKind::kMailbox, 4096).code(),
            absl::StatusCode::kFailedPrecondition);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ForeignHeader,
    testing::Values(HeaderCase{"Magic", [](SegmentHeader* h) { h->magic ^= 1; }},
                    HeaderCase{"Version", [](SegmentHeader* h) { ++h->version; }},
                    HeaderCase{"Kind", [](SegmentHeader* h) { h->kind = SegmentKind::kSlabs; }},
                    HeaderCase{"LayoutHash", [](SegmentHeader* h) { h->layout_hash ^= 1; }},
                    HeaderCase{"Bytes", [](SegmentHeader* h) { h->bytes += 4096; }},
                    HeaderCase{"PageBytes", [](SegmentHeader* h) { h->page_bytes *= 2; }},
                    HeaderCase{"Zeros", [](SegmentHeader* h) { *h = SegmentHeader{}; }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mpsd
