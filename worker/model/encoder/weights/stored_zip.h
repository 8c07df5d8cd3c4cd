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

// The bytes of each entry by its name, inside the file's bytes.
using ZipEntries = std::map<std::string, absl::string_view>;

// The entries of a zip file whose whole content is `file`, which outlives the result; zip64
// included. INVALID_ARGUMENT says what is wrong. Entries that are compressed or encrypted are
// refused, as are two of one name, more than 110,000, and a comment behind the directory. Each
// lies before the directory and overlaps no other one, so all of them together are at most as long
// as the file. The file is untrusted. Checksums are not computed. Pure.
absl::StatusOr<ZipEntries> ReadStoredZip(absl::string_view file);

}  // namespace mpsd
