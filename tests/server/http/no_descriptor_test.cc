// A process that has no descriptor left. A sanitizer needs some for itself: not in such builds.
#include <fcntl.h>
#include <sys/resource.h>

#include "absl/strings/match.h"
#include "tests/server/http/http_server_fixture.h"

namespace mpsd {
namespace {

// While it lives, the process gets no further descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(UniqueFd(open("/dev/null", O_RDONLY)).get());
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(HttpServerTest, AConnectionWaitsWhileThereIsNoDescriptor) {
  Start();
  Client client(UniqueFd(socket(AF_INET, SOCK_STREAM, 0)));
  {
    const NoDescriptors none;
    client.Connect(Address());
    client.Send(kGet);
    EXPECT_FALSE(client.HearsWithin(100));
  }
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "GET /a "));
}

}  // namespace
}  // namespace mpsd
