#include "server/listen/connection_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mpsd {
namespace {

constexpr char kPeer[] = "ipv4:127.0.0.1:40000";

ConnectionTable::NewConnection Uncounted() {
  ConnectionTable::NewConnection connection;
  connection.names = {":8001", 40000, kPeer};
  connection.frames.header_block_bytes = 1000;
  return connection;
}

// It counts.
ConnectionTable::NewConnection Connection(ConnectionTable* table) {
  ConnectionTable::NewConnection connection = Uncounted();
  connection.use = table->shares()->Enter({}, {100, 100, nullptr, nullptr});
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
  EXPECT_TRUE(table.AddConnection(7, Connection(&table)));
  EXPECT_TRUE(table.AddConnection(5000, Connection(&table)));
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

TEST(ConnectionTable, AConnectionOfTheControlSocketDoesNotCount) {
  ConnectionTable table;
  EXPECT_TRUE(table.AddConnection(1, Uncounted()));
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.Of(kPeer).use, nullptr);
  EXPECT_EQ(AllOf(table), std::vector<int>{1});
  table.Remove(1);
  EXPECT_EQ(table.count(), 0u);
}

TEST(ConnectionTable, FindsTheConnectionOfAPeerWhileItIsOpen) {
  ConnectionTable table;
  const auto first = Connection(&table);
  const auto second = Connection(&table);
  ASSERT_TRUE(table.AddConnection(4, first));
  EXPECT_EQ(table.Of(kPeer).fd, 4);
  EXPECT_EQ(table.Of(kPeer).use, first.use);
  EXPECT_EQ(table.Of("ipv4:127.0.0.1:40001").use, nullptr);
  ASSERT_TRUE(table.AddConnection(5, second));
  table.Remove(4);
  EXPECT_EQ(table.Of(kPeer).use, second.use) << "the same client is at two listeners";
  table.Remove(5);
  EXPECT_EQ(table.Of(kPeer).use, nullptr);
}

TEST(ConnectionTable, ACancelledCallCountsForItsOwnConnectionOnly) {
  ConnectionTable table;
  const auto first = Connection(&table);
  const auto second = Connection(&table);
  ASSERT_TRUE(table.AddConnection(4, first));
  ConnectionPlace* const place = table.Find(4);
  std::string opaque(100, 'x');
  const iovec piece{opaque.data(), opaque.size()};
  EXPECT_EQ(place->Took({&piece, 1}, opaque.size(), false, *Clock::Real()), Flood::kNone);
  const int64_t now_ns = Clock::Real()->NowNs();
  Flood flood = Flood::kNone;
  for (int i = 0; i < 20'000; ++i) flood = place->CountReset(second.use.get(), false, now_ns);
  EXPECT_EQ(flood, Flood::kNone);
  EXPECT_FALSE(place->DoIfUsedAs(second.use.get(), [] {}));
  for (int i = 0; i < 20'000; ++i) flood = place->CountReset(first.use.get(), false, now_ns);
  EXPECT_EQ(flood, Flood::kResets);
  EXPECT_TRUE(place->DoIfUsedAs(first.use.get(), [] {}));
  second.use->Leave();
}

TEST(ConnectionTable, ADescriptorThatIsGivenOutAgainKnowsNothingOfBefore) {
  ConnectionTable table;
  ASSERT_TRUE(table.AddConnection(4, Connection(&table)));
  ConnectionPlace* const place = table.Find(4);
  place->SetEpoll(EpollEntry{9, 1, 4});
  std::vector<uint8_t> bytes(ReadRound::kBytes);
  const iovec pieces[] = {{bytes.data(), 1}, {bytes.data() + 1, bytes.size()}};
  EXPECT_EQ(place->Took(pieces, bytes.size(), false, *Clock::Real()), Flood::kNone);
  ASSERT_TRUE(place->MustPause(*Clock::Real()));
  // Without a Remove() in between, as when the close was not seen.
  ASSERT_TRUE(table.AddConnection(4, Connection(&table)));
  EXPECT_EQ(table.count(), 1u);
  EXPECT_EQ(table.Find(4), place);
  EXPECT_FALSE(place->epoll().has_value());
  EXPECT_FALSE(place->MustPause(*Clock::Real()));
  EXPECT_EQ(place->Took(pieces, 1, false, *Clock::Real()), Flood::kNone);
  EXPECT_FALSE(place->MustPause(*Clock::Real()))
      << "the round of the connection before has ended with it";
}

TEST(ConnectionTable, ADescriptorWithoutAPlaceIsRefused) {
  ConnectionTable table;
  for (const int fd : {-1, ConnectionTable::kDescriptors}) {
    EXPECT_FALSE(table.AddConnection(fd, Connection(&table))) << fd;
    EXPECT_EQ(table.count(), 0u) << "its use has left";
    table.AddListener(fd);
    table.Remove(fd);
    EXPECT_EQ(table.Find(fd), nullptr) << fd;
  }
  EXPECT_TRUE(table.AddConnection(ConnectionTable::kDescriptors - 1, Connection(&table)));
}

TEST(ConnectionTable, ThreadsThatComeAndGoLeaveItEmpty) {
  ConnectionTable table;
  std::vector<std::thread> threads;
  for (int first = 0; first < 4; ++first) {
    threads.emplace_back([&table, first] {
      for (int round = 0; round < 2'000; ++round) {
        const int fd = 1020 + first + round % 2 * 4;
        EXPECT_TRUE(table.AddConnection(fd, Connection(&table)));
        table.Find(fd)->FoundNothing();
        AllOf(table);
        table.Of(kPeer);
        EXPECT_LE(table.count(), 4u);
        table.Remove(fd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.count(), 0u);
}

}  // namespace
}  // namespace mpsd
