#include "record/lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "policy/job.h"
#include "record/human.h"
#include "record/plain.h"
#include "record/table.h"

namespace plimsoll::record {
namespace {

constexpr const char* kUnknown = "-";
// A row that wraps is read more easily than one whose name is cut off.
constexpr std::size_t kWidthMin = 120;

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
  for (const RunEntry& run : runs) {
    id.cells.push_back(printable(run.id));
    started.cells.push_back(wall_text(run.meta.started));
    took.cells.push_back(took_text(run));
    jobs.cells.push_back(std::to_string(run.figures ? run.figures->jobs : run.meta.jobs));
    outcomes.cells.push_back(run.figures ? outcomes_text(*run.figures) : kUnknown);
    const auto the_line = run.figures && run.figures->line ? run.figures->line : run.meta.line;
    line.cells.push_back(or_unknown(the_line, format_bytes));
    pauses.cells.push_back(count_text(run, &RunFigures::pauses));
    evictions.cells.push_back(count_text(run, &RunFigures::evictions));
    command.cells.push_back(printable(policy::command_line(run.meta.command_line)));
  }
  return table_text({id, started, took, jobs, outcomes, line, pauses, evictions, command},
                    std::max(style.width, kWidthMin));
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
  Column last{.heading = "LAST SEEN", .align = Align::left, .cells = {}};
  Column name{.heading = "CLASS", .align = Align::left, .cells = {}};
  for (const history::ClassSummary& one : classes) {
    count.cells.push_back(std::to_string(one.count));
    p50.cells.push_back(format_bytes(one.peak.p50));
    p90.cells.push_back(format_bytes(one.peak.p90));
    most.cells.push_back((one.at_least > 0 ? ">= " : "") + format_bytes(one.peak.max));
    wall.cells.push_back(format_duration(one.ran.p50));
    wall90.cells.push_back(format_duration(one.ran.p90));
    cores.cells.push_back(one.cores ? cores_text(one.cores->p50) : kUnknown);
    last.cells.push_back(date_text(one.last));
    name.cells.push_back(printable(one.key.exact));
  }
  return table_text({count, p50, p90, most, wall, wall90, cores, last, name},
                    std::max(style.width, kWidthMin));
}

}  // namespace plimsoll::record
