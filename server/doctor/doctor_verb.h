// doctor_verb: the verb `doctor`: whether mpsd can serve on this host, and what to do where not.
//
// For an operator before the first start, and for a report about a host that nobody else can reach.
// It reads the config that `mpsd serve` would read, or takes the defaults where there is none. No
// daemon needs to run; where one does, its addresses are taken, which is a warning and no failure.
#pragma once

#include <ostream>
#include <string>

namespace mpsd {

// What `mpsd doctor` exits with besides 0: the codes of sysexits.h.
inline constexpr int kExitUnfit = 71;     // a finding is FAIL
inline constexpr int kExitNoReport = 73;  // the report cannot be written

// The options as they stand on the command line; server/main.cc fills them.
struct DoctorOptions {
  std::string config;          // empty: as `mpsd serve` finds one
  std::string report;          // a file to write; empty: none
  bool json = false;           // the findings as JSON
  bool colours = false;        // stdout takes them
  bool mac_checklist = false;  // print the list of checks for a Mac, and look at nothing
  std::string worker;          // empty: WorkerProgram()
};

// Writes the findings to `out`, and the report to its file. A finding that is FAIL makes it return
// kExitUnfit, whatever becomes of the report; a report that cannot be written is kExitNoReport,
// with the reason on `err`. Blocks as Examine() does. Returns the exit code.
int RunDoctor(const DoctorOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd
