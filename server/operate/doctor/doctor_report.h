// DoctorReport: the findings of `mpsd doctor` as text.
#pragma once

#include <string>
#include <vector>

#include "server/operate/doctor/examination.h"
#include "server/operate/doctor/finding.h"

namespace mpsd {

// A line for each finding, its remedy, and what was not tried:
//
//   OK    host: Linux 6.1.0 x86_64, 2 cores, pages of 4 KiB
//   WARN  sandbox: landlock is not there
//         do: workers go on with less: serve trusted files alone
//   not tried: whether a device computes: …
//
// Pure.
std::string FindingsText(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried, bool colours = false);

// The same as an object on one line: "version", "verdict" (the worst one), "findings": [{"topic",
// "verdict", "seen", "remedy"}], "not_tried". Pure.
std::string FindingsJson(const std::vector<Finding>& findings,
                         const std::vector<std::string>& not_tried);

// `findings_text` between BuildInfo() and details for developers: the worker's answers, and the
// environment that libtorch reads. Holds no token and no request content. Pure.
std::string ReportText(const std::string& build, const Examination& seen,
                       const std::string& findings_text);

}  // namespace mpsd
