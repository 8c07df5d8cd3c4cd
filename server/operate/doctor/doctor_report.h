// DoctorReport: the findings of `mpsd doctor` as text, for a terminal and for a file to send.
#pragma once

#include <string>
#include <vector>

#include "server/operate/doctor/examination.h"
#include "server/operate/doctor/finding.h"

namespace mpsd {

// A line for each finding, followed by its remedy if it needs one, and then what was not tried:
//
//   OK    host: Linux 6.1.0 x86_64, 2 cores, pages of 4 KiB
//   WARN  sandbox: landlock is not there
//         do: workers go on with less: serve trusted files alone
//   not tried: whether a device computes: …
//
// Verdicts have colours if `colours`. Pure.
std::string FindingsText(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried, bool colours = false);

// The same for programs, an object on one line: "version", "verdict", which is the worst one,
// "findings": [{"topic", "verdict", "seen", "remedy"}], "not_tried". Pure.
std::string FindingsJson(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried);

// `findings_text` between the version and details for developers: the worker's answers as it wrote
// them, and the environment that libtorch reads. Holds no token and no request content. Pure.
std::string ReportText(const Examination& seen, const std::string& findings_text);

}  // namespace mpsd
