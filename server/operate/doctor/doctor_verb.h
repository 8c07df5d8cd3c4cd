// doctor_verb: the verb `doctor`: whether mpsd can serve on this host, and what to do if not.
//
// For an operator before the first start, and for a report about a host that nobody else can reach.
// Reads the config that `mpsd serve` would read, or takes the defaults. No daemon needs to run. If
// one does, its addresses are taken, which is a warning and no failure.
#pragma once

#include <ostream>
#include <string>

namespace mpsd {

// Exit codes of `mpsd doctor` besides 0, from sysexits.h.
inline constexpr int kExitUnfit = 71;     // a finding is FAIL
inline constexpr int kExitNoReport = 73;  // the report cannot be written

// The command line's options; server/main.cc fills them.
struct DoctorOptions {
  std::string config;          // empty: as `mpsd serve` finds one
  std::string report;          // a file to write; empty: none
  std::string mac_report;      // a file to write, with MacReportText(); empty: none
  bool json = false;           // the findings as JSON
  bool colours = false;        // stdout takes them
  bool mac_checklist = false;  // print the list of checks for a Mac, and look at nothing
  std::string worker;          // empty: WorkerProgram()
};

// Writes the findings to `out`, and the report to its file. Returns the exit code: kExitUnfit if a
// finding is FAIL, whatever becomes of the report; kExitNoReport if the report cannot be written,
// with the reason on `err`. Blocks as Examine() does.
int RunDoctor(const DoctorOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd
