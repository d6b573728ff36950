#include "store/runs/lists.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/quantity.h"
#include "policy/job/job.h"
#include "report/json_text.h"
#include "report/plain.h"
#include "report/table.h"
#include "store/runs/human.h"

namespace plimsoll::report {
namespace {

constexpr const char* kUnknown = "-";
// Columns that say less give way to the last one until it is so wide: a command is known by its
// beginning, a class needs more.
constexpr std::size_t kCommandMin = 16, kClassMin = 24;
// Many kinds of ends must not take the room of the command; programs read --json.
constexpr std::size_t kOutcomesMin = 24, kOutcomesPart = 4;

template <class T, class Format>
std::string or_unknown(const std::optional<T>& value, Format format) {
  return value ? format(*value) : kUnknown;
}

std::string cores_text(double cores) { return fmt::format("{:.3g}", cores); }

std::string took_text(const RunEntry& run) {
  if (run.state != RunState::finished) return std::string(name_of(run.state));
  return run.figures ? or_unknown(run.figures->makespan, format_duration) : kUnknown;
}

std::string count_text(const RunEntry& run, std::uint64_t RunFigures::* count) {
  return run.figures ? std::to_string((*run.figures).*count) : kUnknown;
}

// A column, and when it gives way: the lower the rank the sooner; 0 never.
struct Ranked {
  Column column;
  unsigned rank = 0;
};

std::string fitting_table(std::vector<Ranked> ranked, std::size_t last_min, std::size_t width) {
  for (;;) {
    std::vector<Column> columns;
    auto least = ranked.end();
    for (auto one = ranked.begin(); one != ranked.end(); ++one) {
      columns.push_back(one->column);
      if (one->rank > 0 && (least == ranked.end() || one->rank < least->rank)) least = one;
    }
    if (least == ranked.end() || last_column_width(columns, width) >= last_min) {
      return table_text(columns, width);
    }
    ranked.erase(least);
  }
}

// Without the program, which is the same in every row.
std::string command_text(const RunMeta& meta) {
  const auto& words = meta.command_line;
  if (words.size() < 2) return printable(policy::command_line(words));
  return printable(policy::command_line(std::vector<std::string>(words.begin() + 1, words.end())));
}

// Nothing: there are some, and more may come.
std::optional<std::uint64_t> jobs_of(const RunEntry& run) {
  if (run.figures) return run.figures->jobs;
  if (run.meta.kind == RunKind::governed) return std::nullopt;
  return run.meta.jobs;
}

// A single command is held below no line: that of its record is what a batch would have had.
std::optional<Bytes> line_held(const RunEntry& run) {
  if (run.meta.kind == RunKind::single) return std::nullopt;
  return run.figures && run.figures->line ? run.figures->line : run.meta.line;
}

}  // namespace

std::string runs_text(const std::vector<RunEntry>& runs, const TextStyle& style) {
  Column id{.heading = "RUN", .align = Align::left, .cells = {}};
  Column started{.heading = "STARTED", .align = Align::left, .cells = {}};
  Column took{.heading = "TOOK", .cells = {}};
  Column jobs{.heading = "JOBS", .cells = {}};
  Column outcomes{.heading = "OUTCOMES", .align = Align::left, .cells = {}};
  Column line{.heading = "LINE", .cells = {}};
  Column pauses{.heading = "PAUSES", .cells = {}};
  Column evictions{.heading = "EVICTIONS", .cells = {}};
  Column command{.heading = "COMMAND", .align = Align::left, .cells = {}};
  const std::size_t outcomes_max = std::max(kOutcomesMin, style.width / kOutcomesPart);
  for (const RunEntry& run : runs) {
    id.cells.push_back(printable(run.id));
    started.cells.push_back(wall_text(run.meta.started));
    took.cells.push_back(took_text(run));
    jobs.cells.push_back(
        or_unknown(jobs_of(run), [](auto count) { return std::to_string(count); }));
    outcomes.cells.push_back(run.figures ? fitted(outcomes_text(*run.figures), outcomes_max)
                                         : kUnknown);
    line.cells.push_back(or_unknown(line_held(run), format_bytes));
    pauses.cells.push_back(count_text(run, &RunFigures::pauses));
    evictions.cells.push_back(count_text(run, &RunFigures::evictions));
    command.cells.push_back(command_text(run.meta));
  }
  enum : unsigned {
    kCounts = 1,
    kLine,
    kJobs,
    kStarted,
    kOutcomes
  };  // the id has the time as well
  return fitting_table({{id},
                        {started, kStarted},
                        {took},
                        {jobs, kJobs},
                        {outcomes, kOutcomes},
                        {line, kLine},
                        {pauses, kCounts},
                        {evictions, kCounts},
                        {command}},
                       kCommandMin, style.width);
}

std::string history_text(const std::vector<history::ClassSummary>& classes,
                         const TextStyle& style) {
  Column count{.heading = "COUNT", .cells = {}};
  Column p50{.heading = "PEAK P50", .cells = {}};
  Column p90{.heading = "P90", .cells = {}};
  Column most{.heading = "MAX", .cells = {}};
  Column wall{.heading = "TIME P50", .cells = {}};
  Column wall90{.heading = "P90", .cells = {}};
  Column cores{.heading = "CORES", .cells = {}};
  Column written{.heading = "WRITTEN P90", .cells = {}};
  Column last{.heading = "LAST SEEN", .align = Align::left, .cells = {}};
  Column owner{.heading = "UID", .cells = {}};
  Column name{.heading = "CLASS", .align = Align::left, .cells = {}};
  const bool of_many = std::any_of(classes.begin(), classes.end(),
                                   [](const auto& one) { return one.key.owner.has_value(); });
  const bool is_written_known = std::any_of(
      classes.begin(), classes.end(), [](const auto& one) { return one.written.has_value(); });
  for (const history::ClassSummary& one : classes) {
    count.cells.push_back(std::to_string(one.count));
    p50.cells.push_back(format_bytes(one.peak.p50));
    p90.cells.push_back(format_bytes(one.peak.p90));
    most.cells.push_back((one.at_least > 0 ? ">= " : "") + format_bytes(one.peak.max));
    wall.cells.push_back(format_duration(one.ran.p50));
    wall90.cells.push_back(format_duration(one.ran.p90));
    cores.cells.push_back(one.cores ? cores_text(one.cores->p50) : kUnknown);
    written.cells.push_back(one.written ? format_bytes(one.written->p90) : kUnknown);
    last.cells.push_back(date_text(one.last));
    owner.cells.push_back(one.key.owner ? std::to_string(*one.key.owner) : kUnknown);
    name.cells.push_back(printable(one.key.exact));
  }
  enum : unsigned { kWall90 = 1, kLast, kWritten, kCores, kP90, kMost };
  std::vector<Ranked> columns = {
      {count}, {p50}, {p90, kP90}, {most, kMost}, {wall}, {wall90, kWall90}, {cores, kCores}};
  if (is_written_known) columns.push_back({written, kWritten});
  columns.push_back({last, kLast});
  if (of_many) columns.push_back({owner});
  columns.push_back({name});
  return fitting_table(std::move(columns), kClassMin, style.width);
}

namespace {

std::int64_t unix_ns(WallTime time) { return time.time_since_epoch().count(); }

Json run_json(const RunEntry& run) {
  Json json = Json::object();
  json["run"] = run.id;
  json["path"] = run.path;
  json["state"] = name_of(run.state);
  json["started_unix_ns"] = unix_ns(run.meta.started);
  json["command_line"] = run.meta.command_line;
  if (const auto jobs = jobs_of(run)) json["jobs"] = *jobs;
  if (run.meta.line) json["line_bytes"] = run.meta.line->count;
  if (run.meta.cores) json["cores"] = *run.meta.cores;
  if (!run.figures) return json;
  const RunFigures& figures = *run.figures;
  if (figures.makespan) json["makespan_ns"] = figures.makespan->count();
  json["outcomes"] = figures.outcomes;
  if (figures.succeeded) json["succeeded"] = *figures.succeeded;
  json["holds"] = figures.holds;
  json["pauses"] = figures.pauses;
  json["evictions"] = figures.evictions;
  if (figures.lost_cpu) json["lost_cpu_ns"] = figures.lost_cpu->count();
  if (figures.line) json["line_bytes"] = figures.line->count;
  if (figures.used_peak) json["used_peak_bytes"] = figures.used_peak->count;
  return json;
}

template <class T, class Number>
Json quantiles_json(const history::Quantiles<T>& quantiles, Number number) {
  Json json = Json::object();
  json["p50"] = number(quantiles.p50);
  json["p90"] = number(quantiles.p90);
  json["max"] = number(quantiles.max);
  return json;
}

Json class_json(const history::ClassSummary& summary) {
  Json json = Json::object();
  json["class"] = summary.key.exact;
  if (!summary.key.tool.empty()) json["tool"] = summary.key.tool;
  if (summary.key.owner) json["uid"] = *summary.key.owner;
  json["count"] = summary.count;
  json["at_least"] = summary.at_least;
  const auto count = [](Bytes bytes) { return bytes.count; };
  json["peak_bytes"] = quantiles_json(summary.peak, count);
  json["ran_ns"] = quantiles_json(summary.ran, [](Duration time) { return time.count(); });
  if (summary.cores) {
    json["cores"] = quantiles_json(*summary.cores, [](double cores) { return cores; });
  }
  if (summary.written) json["written_bytes"] = quantiles_json(*summary.written, count);
  if (summary.io) json["io_bytes"] = quantiles_json(*summary.io, count);
  json["last_unix_ns"] = unix_ns(summary.last);
  return json;
}

}  // namespace

std::string to_json(const std::vector<RunEntry>& runs, JsonForm form) {
  Json json = Json::object();
  json["schema"] = "plimsoll.runs/1";
  json["runs"] = Json::array();
  for (const RunEntry& run : runs) json["runs"].push_back(run_json(run));
  return text_of(json, form);
}

std::string to_json(const std::vector<history::ClassSummary>& classes, JsonForm form) {
  Json json = Json::object();
  json["schema"] = "plimsoll.history/1";
  json["classes"] = Json::array();
  for (const auto& summary : classes) json["classes"].push_back(class_json(summary));
  return text_of(json, form);
}

}  // namespace plimsoll::report
