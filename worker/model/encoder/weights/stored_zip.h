// stored_zip: reads a zip file whose entries are stored as they are.
//
//   ┌────────┬─────────┬────────┬─────────┬───┬───────────────────┬──────────────────┐
//   │ header │ entry's │ header │ entry's │ … │ directory: names, │ where it begins, │
//   │        │ bytes   │        │ bytes   │   │ places, sizes     │ entries in it    │
//   └────────┴─────────┴────────┴─────────┴───┴───────────────────┴──────────────────┘
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Views of the file's bytes, by name.
using ZipEntries = std::map<std::string, absl::string_view>;

// Reads the untrusted `file`, which outlives the result; zip64 included. INVALID_ARGUMENT says what
// is wrong. Refuses compressed or encrypted entries, two of one name, more than 110,000, and a
// comment behind the directory. Entries lie before the directory and do not overlap. Checksums are
// not computed. Pure.
absl::StatusOr<ZipEntries> ReadStoredZip(absl::string_view file);

}  // namespace mpsd
