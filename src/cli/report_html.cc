#include "cli/report_html.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "analysis/comparison.h"
#include "analysis/comparison_text.h"
#include "cli/exit_status.h"
#include "page/page.h"
#include "page/record.h"
#include "report/writer.h"

namespace plimsoll::cli {
namespace {

bool has_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

Result<int> open_page(const std::string& path) {
  if (!has_value("DISPLAY") && !has_value("WAYLAND_DISPLAY")) {
    return fail(
        "--open: there is no desktop here, as neither DISPLAY nor WAYLAND_DISPLAY is set; "
        "the page was written to " +
        path);
  }
  std::error_code failed;  // then the path as it was given will do
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  const std::string file = failed ? path : absolute.string();
  ::execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
  return fail_errno("--open: start xdg-open; the page was written to " + path);
}

Result<std::string> comparison_of(const RecordedRun& before, const RecordedRun& after) {
  const auto first = compared_run(before);
  if (!first) return tl::unexpected(first.error());
  const auto second = compared_run(after);
  if (!second) return tl::unexpected(second.error());
  return analysis::comparison_json(analysis::compare(*first, *second), {});
}

Result<page::Contents> contents_of(std::vector<RecordedRun> runs) {
  page::Contents contents;
  if (runs.size() == 2) {
    auto comparison = comparison_of(runs[0], runs[1]);
    if (!comparison) return pass(std::move(comparison));
    contents.comparison = std::move(*comparison);
  }
  for (RecordedRun& run : runs) {
    auto record = page::read_record(std::move(run.entry), std::move(run.events));
    if (!record) return pass(std::move(record));
    contents.runs.push_back(std::move(*record));
  }
  return contents;
}

}  // namespace

void add_page_options(CLI::App& app, PageOptions& options,
                      std::initializer_list<CLI::Option*> others) {
  auto* html = app.add_option("--html", options.html,
                              "Write a page that shows the run in a browser, or two runs beside "
                              "each other, to FILE, or - for standard output")
                   ->type_name("FILE");
  for (CLI::Option* other : others) html->excludes(other);
  app.add_flag("--open", options.open, "Open that page in the desktop's browser")->needs(html);
}

Result<int> write_page(const PageOptions& options, std::vector<RecordedRun> runs) {
  if (options.open && *options.html == "-") {
    return fail("--open needs a file, but --html - writes to standard output");
  }
  auto contents = contents_of(std::move(runs));
  if (!contents) return pass(std::move(contents));
  const std::string page = page::page_of(*contents);
  if (*options.html == "-") return print_text(page);
  auto written = report::write_file(*options.html, page);
  if (!written) return pass(std::move(written));
  return options.open ? open_page(*options.html) : kSuccess;
}

}  // namespace plimsoll::cli
