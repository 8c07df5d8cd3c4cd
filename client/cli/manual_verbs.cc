#include "client/cli/manual_verbs.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/cli/server_options.h"
#include "client/manual/completion.h"
#include "client/manual/manual_page.h"
#include "proto/files/whole_file.h"
#include "proto/link/json_object.h"

namespace mpsd::cli {
namespace {

constexpr char kConfigPageName[] = "mpsd.json";

// A package that is built twice from one source has the same bytes.
PageFacts FactsOfPages() {
  int64_t second = absl::ToUnixSeconds(absl::Now());
  const char* const source_date = std::getenv("SOURCE_DATE_EPOCH");
  int64_t said = 0;
  if (source_date != nullptr && absl::SimpleAtoi(source_date, &said)) second = said;
  return {MPSD_VERSION,
          absl::FormatTime("%Y-%m-%d", absl::FromUnixSeconds(second), absl::UTCTimeZone())};
}

absl::Status WritePages(const std::string& folder, const CommandTable& table,
                        absl::string_view schema) {
  const PageFacts facts = FactsOfPages();
  absl::Status status = WriteWholeFile(folder + "/mpsd.1", ProgramPage(table, facts));
  status.Update(WriteWholeFile(folder + "/mpsd.json.5", ConfigPage(schema, facts)));
  for (const VerbRow& verb : table.verbs) {
    status.Update(
        WriteWholeFile(absl::StrCat(folder, "/mpsd-", verb.name, ".1"), VerbPage(verb, facts)));
  }
  return status;
}

std::string NoPage(const std::string& page, const CommandTable& table) {
  std::vector<std::string_view> names = {kConfigPageName};
  for (const VerbRow& verb : table.verbs) names.push_back(verb.name);
  return absl::StrCat("there is no page '", page, "'", DidYouMean(page, names, "there are"));
}

}  // namespace

int RunCompletion(const std::string& shell, const CommandTable& table, std::ostream& out,
                  std::ostream& err) {
  if (shell == "bash") return WriteReport(out, err, BashCompletion(table));
  if (shell == "zsh") return WriteReport(out, err, ZshCompletion(table));
  return WriteReport(out, err, FishCompletion(table));
}

int RunManual(const ManualOptions& options, const CommandTable& table, absl::string_view schema,
              std::ostream& out, std::ostream& err) {
  if (!options.folder.empty()) {
    const absl::Status written = WritePages(options.folder, table, schema);
    return written.ok() ? kExitOk : Fail(err, kExitCannotWrite, written);
  }
  const PageFacts facts = FactsOfPages();
  if (options.page.empty()) return WriteReport(out, err, ProgramPage(table, facts));
  if (options.page == kConfigPageName) return WriteReport(out, err, ConfigPage(schema, facts));
  if (const VerbRow* verb = FindVerb(table, options.page)) {
    return WriteReport(out, err, VerbPage(*verb, facts));
  }
  return Fail(err, kExitUsage, absl::InvalidArgumentError(NoPage(options.page, table)));
}

}  // namespace mpsd::cli
