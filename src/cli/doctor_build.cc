#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/govern/jobserver_offer.h"
#include "cli/govern/tool_version.h"
#include "cli/progress/terminal.h"
#include "cli/runs/recorded_runs.h"
#include "govern/build_tools.h"
#include "report/json_put.h"
#include "report/plain.h"
#include "report/table.h"

namespace plimsoll::cli {
namespace {

using govern::TokenStyle;

// A tool that is on PATH.
struct FoundTool {
  std::string name;
  std::string path;
  std::optional<govern::ToolVersion> version;  // absent: it does not tell
  govern::ToolVerdict verdict;
};

std::vector<FoundTool> look_for_tools() {
  std::vector<FoundTool> found;
  for (const govern::BuildTool& tool : govern::build_tools()) {
    const auto path = find_program(std::string(tool.name));
    if (!path) continue;
    const auto output = version_text(*path, std::string(tool.version_option)).value_or("");
    found.push_back({.name = std::string(tool.name),
                     .path = *path,
                     .version = govern::version_in(output),
                     .verdict = govern::verdict_of(tool, output)});
  }
  return found;
}

const char* name_of(TokenStyle style) { return style == TokenStyle::pipe ? "pipe" : "fifo"; }

std::string text_of_version(const FoundTool& tool) {
  if (!tool.version) return "?";
  return std::to_string(tool.version->major) + "." + std::to_string(tool.version->minor);
}

std::string styles_text(const FoundTool& tool) {
  std::string text;
  for (const TokenStyle style : tool.verdict.styles) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(style));
  }
  return text.empty() ? "no" : text;
}

std::string offer_text(const govern::StyleChoice& choice, std::size_t width) {
  std::string offer = "plimsoll govern offers ";
  offer += choice.style ? "a jobserver by a " + std::string(name_of(*choice.style))
                        : std::string("no jobserver to ninja");
  std::string text;
  report::append_wrapped(text, offer + ": " + choice.why + ".", 0, width);
  return text + "\n";
}

std::string tools_text(const std::vector<FoundTool>& tools, std::size_t width) {
  if (tools.empty()) return "No build tool that Plimsoll knows is on PATH.\n";
  std::vector<report::Column> columns = {
      {.heading = "tool", .align = report::Align::left, .cells = {}},
      {.heading = "version", .align = report::Align::right, .cells = {}},
      {.heading = "jobserver", .align = report::Align::left, .cells = {}},
      {.heading = "how it is governed", .align = report::Align::left, .cells = {}}};
  for (const FoundTool& tool : tools) {
    columns[0].cells.push_back(tool.name);
    columns[1].cells.push_back(text_of_version(tool));
    columns[2].cells.push_back(styles_text(tool));
    columns[3].cells.push_back(tool.verdict.how);
  }
  return report::table_text(columns, width, report::LastColumn::wrapped);
}

std::string json_of(const govern::StyleChoice& choice, const std::vector<FoundTool>& tools) {
  report::Json document;
  document["schema"] = "plimsoll.doctor.build/1";
  report::Json offer;
  offer["style"] = choice.style ? name_of(*choice.style) : "none";
  report::put_text(offer, "why", choice.why);
  document["jobserver"] = std::move(offer);
  document["tools"] = report::Json::array();
  for (const FoundTool& tool : tools) {
    report::Json entry;
    entry["name"] = tool.name;
    entry["path"] = tool.path;
    if (tool.version) entry["version"] = text_of_version(tool);
    entry["jobserver"] = report::Json::array();
    for (const TokenStyle style : tool.verdict.styles) entry["jobserver"].push_back(name_of(style));
    entry["how"] = tool.verdict.how;
    document["tools"].push_back(std::move(entry));
  }
  return report::text_of(document, report::JsonForm::pretty);
}

}  // namespace

int doctor_build(DoctorForm form) {
  const std::vector<FoundTool> tools = look_for_tools();
  const govern::StyleChoice choice = style_on_path(MayRunNinja::yes);
  const std::size_t width = style_of(STDOUT_FILENO).width;
  const auto printed =
      print_text(form == DoctorForm::json ? json_of(choice, tools)
                                          : offer_text(choice, width) + tools_text(tools, width));
  if (printed) return *printed;
  complain("doctor: " + printed.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
