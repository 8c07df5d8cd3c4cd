// Says whether a server is at ADDRESS.
// Run with: client-program ADDRESS
#include <cstdio>

#include "absl/time/clock.h"
#include "client/client.h"
#include "client/infer_stream.h"
#include "client/shared_region.h"

int main(int argc, char** argv) {
  const char* address = argc > 1 ? argv[1] : "127.0.0.1:8001";
  const auto client = mpsd::client::Client::Connect(address, absl::Now() + absl::Seconds(5));
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    return 1;
  }
  std::printf("there is a server at %s\n", address);
}
