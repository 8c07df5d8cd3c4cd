// InheritedSockets: listening sockets that another process has handed over.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http/listening_socket.h"

namespace mpsd {

// By the address that the config asks for; "localhost:8000" may be two. A config may ask for
// "localhost:0" several times. Thread-compatible.
class InheritedSockets {
 public:
  void Add(std::string asked, ListeningSocket socket) {
    sockets_.push_back({std::move(asked), std::move(socket)});
  }

  // Gives the sockets of this address to the caller: those with one port.
  std::vector<ListeningSocket> Take(absl::string_view asked) {
    std::vector<ListeningSocket> taken;
    for (Entry& entry : sockets_) {
      if (entry.asked != asked || !entry.socket.fd.valid()) continue;
      const bool is_other = !taken.empty() && taken.front().address != entry.socket.address;
      if (!is_other) taken.push_back(std::move(entry.socket));
    }
    return taken;
  }

  // Closes those that nobody has taken: a client there would wait without end.
  void CloseRest() { sockets_.clear(); }

 private:
  struct Entry {
    std::string asked;
    ListeningSocket socket;
  };

  std::vector<Entry> sockets_;
};

}  // namespace mpsd
