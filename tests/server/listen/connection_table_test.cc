#include "server/listen/connection_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mpsd {
namespace {

ConnectionTable::NewConnection Connection(uint32_t most = 10) {
  ConnectionTable::NewConnection connection;
  connection.names = {":8001", 40000, "ipv4:127.0.0.1:40000"};
  connection.frames.header_block_bytes = 1000;
  connection.most = most;
  return connection;
}

std::vector<int> AllOf(const ConnectionTable& table) {
  std::vector<int> fds;
  table.ForEach([&fds](int fd, const ConnectionPlace&) { fds.push_back(fd); });
  return fds;
}

TEST(ConnectionTable, KnowsWhatIsOpenAndWhatItIsCalled) {
  ConnectionTable table;
  EXPECT_EQ(table.Find(7), nullptr);
  EXPECT_TRUE(table.AddConnection(7, Connection()));
  EXPECT_TRUE(table.AddConnection(5000, Connection()));
  table.AddListener(3);
  EXPECT_EQ(table.count(), 2u);
  EXPECT_EQ(AllOf(table), (std::vector<int>{7, 5000}));
  EXPECT_EQ(table.Find(7)->local_name(), ":8001");
  EXPECT_EQ(table.Find(7)->local_peer_port(), 40000u);
  EXPECT_EQ(table.Find(3)->use(), ConnectionPlace::Use::kListener);
  table.Remove(7);
  table.Remove(3);
  table.Remove(9);
  EXPECT_EQ(table.Find(7), nullptr);
  EXPECT_EQ(table.Find(3), nullptr);
  EXPECT_EQ(table.count(), 1u);
}

TEST(ConnectionTable, TakesNoMoreThanItMay) {
  ConnectionTable table;
  EXPECT_TRUE(table.AddConnection(1, Connection(2)));
  EXPECT_TRUE(table.AddConnection(2, Connection(2)));
  EXPECT_FALSE(table.AddConnection(3, Connection(2)));
  EXPECT_EQ(table.Find(3), nullptr);
  EXPECT_EQ(table.count(), 2u);
  table.Remove(1);
  EXPECT_TRUE(table.AddConnection(3, Connection(2)));
}

TEST(ConnectionTable, AConnectionOfTheControlSocketDoesNotCount) {
  ConnectionTable table;
  ConnectionTable::NewConnection control = Connection();
  control.most.reset();
  EXPECT_TRUE(table.AddConnection(1, control));
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(AllOf(table), std::vector<int>{1});
  table.Remove(1);
  EXPECT_EQ(table.count(), 0u);
}

TEST(ConnectionTable, ADescriptorThatIsGivenOutAgainKnowsNothingOfBefore) {
  ConnectionTable table;
  ASSERT_TRUE(table.AddConnection(4, Connection()));
  ConnectionPlace* const place = table.Find(4);
  place->SetEpoll(EpollEntry{9, 1, 4});
  std::vector<uint8_t> bytes(ReadRound::kBytes);
  const iovec pieces[] = {{bytes.data(), 1}, {bytes.data() + 1, bytes.size()}};
  EXPECT_EQ(place->Took(pieces, bytes.size(), false, *Clock::Real()), Flood::kNone);
  ASSERT_TRUE(place->MustPause());
  // Without a Remove() in between, as when the close was not seen.
  ASSERT_TRUE(table.AddConnection(4, Connection()));
  EXPECT_EQ(table.count(), 1u);
  EXPECT_EQ(table.Find(4), place);
  EXPECT_FALSE(place->epoll().has_value());
  EXPECT_FALSE(place->MustPause());
  EXPECT_EQ(place->Took(pieces, 1, false, *Clock::Real()), Flood::kNone);
  EXPECT_FALSE(place->MustPause()) << "the round of the connection before has ended with it";
}

TEST(ConnectionTable, ADescriptorWithoutAPlaceIsRefused) {
  ConnectionTable table;
  for (const int fd : {-1, ConnectionTable::kDescriptors}) {
    EXPECT_FALSE(table.AddConnection(fd, Connection())) << fd;
    table.AddListener(fd);
    table.Remove(fd);
    EXPECT_EQ(table.Find(fd), nullptr) << fd;
  }
  EXPECT_TRUE(table.AddConnection(ConnectionTable::kDescriptors - 1, Connection()));
}

TEST(ConnectionTable, ThreadsThatComeAndGoLeaveItEmpty) {
  ConnectionTable table;
  std::vector<std::thread> threads;
  for (int first = 0; first < 4; ++first) {
    threads.emplace_back([&table, first] {
      for (int round = 0; round < 2'000; ++round) {
        const int fd = 1020 + first + round % 2 * 4;
        if (!table.AddConnection(fd, Connection(3))) continue;
        table.Find(fd)->FoundNothing();
        AllOf(table);
        EXPECT_LE(table.count(), 7u) << "three, and one each that is refused";
        table.Remove(fd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.count(), 0u);
}

}  // namespace
}  // namespace mpsd
