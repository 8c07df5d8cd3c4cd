// mpsd-http-echo: the ceiling for the HTTP door: a bare echo by Boost.Beast.
//
// Run with:
//   mpsd-http-echo --listen 127.0.0.1:0      (prints "listening ADDRESS"; ends on SIGTERM)

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "load_tests/ceilings/ending_signals.h"
#include "load_tests/ceilings/http_echo_server.h"

int main(int argc, char** argv) {
  mpsd::load::HttpEchoServer::Options options;
  unsigned lifetime_s = 3600;
  std::string answer_path;
  CLI::App app("A bare echo server of HTTP/1.1.");
  app.add_option("--listen", options.address, "address:port")->capture_default_str();
  app.add_option("--threads", options.threads, "threads, each with its connections")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--answer", answer_path,
                 "a file: the body of every answer; without it, the request's")
      ->check(CLI::ExistingFile);
  app.add_option("--lifetime", lifetime_s, "seconds after which it ends by itself")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (!answer_path.empty()) {
    std::ifstream stream(answer_path, std::ios::binary);
    options.answer.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const mpsd::load::EndingSignals signals(lifetime_s);
  const auto echo = mpsd::load::HttpEchoServer::Start(std::move(options));
  if (!echo.ok()) {
    std::fprintf(stderr, "mpsd-http-echo: %s\n", echo.status().ToString().c_str());
    return 69;
  }
  std::printf("listening %s\n", (*echo)->address().c_str());
  std::fflush(stdout);
  signals.Await();
  return 0;
}
