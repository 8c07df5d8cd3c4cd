// doctor_verb: whether mpsd can serve on this host, and what to do if not.
//
// Reads the config that `mpsd serve` would read, or takes the defaults. A running daemon makes the
// addresses a warning.
#pragma once

#include <ostream>
#include <string>

namespace mpsd {

// Besides 0, from sysexits.h.
inline constexpr int kExitUnfit = 71;     // a finding is FAIL
inline constexpr int kExitNoReport = 73;  // the report cannot be written

struct DoctorOptions {
  std::string config;      // empty: as `mpsd serve` finds one
  std::string report;      // empty: none
  std::string mac_report;  // for MacReportText(); empty: none
  bool json = false;
  bool colours = false;                      // stdout takes them
  bool mac_checklist = false;                // only print the list of checks for a Mac
  std::string worker;                        // empty: WorkerProgram()
  std::string build = "mpsd " MPSD_VERSION;  // BuildInfo(), which only the program has
};

// Returns the exit code: kExitUnfit if a finding is FAIL, else kExitNoReport, with the reason on
// `err`, if the report cannot be written. Blocks as Examine() does.
int RunDoctor(const DoctorOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd
