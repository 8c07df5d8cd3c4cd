// mpsd-echo: the ceiling for a server: a raw gRPC echo under the path of ModelInfer.
//
// Run with:
//   mpsd-echo --listen 127.0.0.1:0      (prints "listening ADDRESS"; ends on SIGTERM)

#include <CLI/CLI.hpp>
#include <cstdio>

#include "load_tests/ceilings/echo_server.h"
#include "load_tests/ceilings/ending_signals.h"

int main(int argc, char** argv) {
  mpsd::load::EchoServer::Options options;
  unsigned lifetime_s = 3600;
  CLI::App app("A raw gRPC echo server.");
  app.add_option("--listen", options.address, "host:port or unix:/path")->capture_default_str();
  app.add_option("--threads", options.threads, "completion queues, each with its thread")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--calls", options.armed_calls, "calls armed, a queue")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--lifetime", lifetime_s, "seconds after which it ends by itself")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const mpsd::load::EndingSignals signals(lifetime_s);
  const auto echo = mpsd::load::EchoServer::Start(options);
  if (!echo.ok()) {
    std::fprintf(stderr, "mpsd-echo: %s\n", echo.status().ToString().c_str());
    return 69;
  }
  std::printf("listening %s\n", (*echo)->address().c_str());
  std::fflush(stdout);
  signals.Await();
  return 0;
}
