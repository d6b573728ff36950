#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity.h"
#include "base/text.h"
#include "policy/governor/processors.h"
#include "policy/job/attempt.h"
#include "report/plain.h"
#include "report/table.h"

namespace plimsoll::report {
namespace {

using Items = std::vector<std::string>;

enum class Tone : std::uint8_t { good, bad, strong };

std::string toned(std::string text, Tone tone, Colour colour) {
  if (colour == Colour::none) return text;
  const char* const code = tone == Tone::good ? "32" : tone == Tone::bad ? "31" : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void add(Items& items, const char* name, const std::optional<Duration>& time) {
  if (time) items.push_back(fmt::format("{} {}", name, format_duration(*time)));
}

void add(Items& items, const char* name, const std::optional<Bytes>& bytes) {
  if (bytes) items.push_back(fmt::format("{} {}", name, format_bytes(*bytes)));
}

void add_if_any(Items& items, const char* name, const std::optional<Duration>& time) {
  if (time > Duration{}) add(items, name, time);
}

std::string percent_text(double part, double whole) {
  constexpr double kWhole = 100;
  return fmt::format("{:.0f} %", part / whole * kWhole);
}

// "NAME 6.00 GiB of 8.00 GiB (75 %)", as far as it is known.
void add_of(Items& items, const char* name, const std::optional<Bytes>& part,
            const std::optional<Bytes>& whole) {
  add(items, name, part);
  if (!part || !whole || *whole == Bytes{}) return;
  items.back() += fmt::format(
      " of {} ({})", format_bytes(*whole),
      percent_text(static_cast<double>(part->count), static_cast<double>(whole->count)));
}

Items time_items(const JobReport& report) {
  Items items;
  const JobTimes& times = report.times;
  add(items, "wall", times.wall);
  if (report.usage) {
    const counters::CpuUsage& cpu = report.usage->totals.cpu;
    add(items, "user", cpu.user);
    add(items, "system", cpu.system);
    if (cpu.usage && times.wall > Duration{}) {
      items.push_back("CPU " + percent_text(static_cast<double>(cpu.usage->count()),
                                            static_cast<double>(times.wall->count())));
    }
    add_if_any(items, "throttled", cpu.throttled);
  }
  add_if_any(items, "held", times.held);
  add_if_any(items, "paused", times.paused);
  return items;
}

Items memory_items(const JobReport& report) {
  Items items;
  if (report.usage) {
    const counters::MemoryUsage& memory = report.usage->totals.memory;
    add_of(items, "peak", memory.peak, memory.max);
    if (!memory.peak) add(items, "sampled peak", memory.sampled_peak);
    if (memory.swap_peak > Bytes{}) add(items, "swap peak", memory.swap_peak);
  }
  if (report.rusage) add(items, "largest process", report.rusage->maxrss);
  return items;
}

void add_stall(Items& items, const char* name, const std::optional<counters::Pressure>& pressure) {
  if (!pressure || !pressure->some) return;
  std::string text = fmt::format("{} {}", name, format_duration(pressure->some->total));
  if (pressure->full && pressure->full->total > Duration{}) {
    text += fmt::format(" (full {})", format_duration(pressure->full->total));
  }
  items.push_back(std::move(text));
}

Items left_items(const JobReport& report) {
  Items items;
  for (const LeftBehind& left : report.left_behind) {
    std::string text = fmt::format("{} (pid {})", printable(left.comm), left.pid);
    if (left.fate == LeftFate::had_left) text += " had left its group";
    if (left.fate == LeftFate::lives) text += " could not be killed";
    items.push_back(std::move(text));
  }
  return items;
}

// More than one attempt, or nothing.
Items attempt_items(const JobReport& report) {
  Items items;
  if (report.attempts.size() < 2) return items;
  for (const AttemptReport& attempt : report.attempts) {
    items.emplace_back(policy::name_of(attempt.outcome));
  }
  return items;
}

std::string usage_lines(const counters::JobUsage& usage, std::size_t width) {
  const counters::Sample& totals = usage.totals;
  Items io, stall, pids, network;
  add(io, "read", totals.io.read);
  add(io, "written", totals.io.written);
  add_stall(stall, "cpu", totals.cpu.pressure);
  add_stall(stall, "memory", totals.memory.pressure);
  add_stall(stall, "io", totals.io.pressure);
  if (totals.pids.peak) pids.push_back(fmt::format("peak {}", *totals.pids.peak));
  if (totals.network) {
    add(network, "received", std::optional(totals.network->rx));
    add(network, "sent", std::optional(totals.network->tx));
  }
  return labelled_text("io", io, width) + labelled_text("stall", stall, width) +
         labelled_text("pids", pids, width) + labelled_text("network", network, width);
}

// How good the estimates were; nothing if there is none to judge by.
Items estimate_items(const policy::Calibration& calibration) {
  if (calibration.attempts() == 0) return {};
  return {percent_text(calibration.above_mean(), 1) + " of jobs needed more than estimated (" +
              percent_text(calibration.far_above(), 1) + " much more)",
          percent_text(calibration.wasted(), 1) + " of reserved memory was not used"};
}

// What has slowed the run down without holding anybody; nothing where it is next to none.
void add_others(Items& items, const RunSummary& summary) {
  const double others = summary.cores_of_others.value_or(0);
  if (others < policy::kCoresTold || !summary.cores_of_machine) return;
  items.push_back(
      fmt::format("other programs used {:.1f} of {:.0f} cores", others, *summary.cores_of_machine));
}

std::string unavailable_lines(const counters::Unavailable& unavailable) {
  std::string out;
  for (const auto& [key, why] : unavailable) {
    out += fmt::format("  no {}: {}\n", printable(key), printable(why));
  }
  return out;
}

const char* name_of(Weight by) {
  switch (by) {
    case Weight::memory: return "memory";
    case Weight::cpu: return "CPU time";
    case Weight::stall: return "stall";
  }
  return "";
}

const char* name_of(Resource resource) {
  switch (resource) {
    case Resource::cpu: return "cpu";
    case Resource::memory: return "memory";
    case Resource::io: return "io";
  }
  return "";
}

// A job in so many columns: its id, and the command where that says more.
std::string job_cell(const JobFigures& job, const SharedText& commands, std::size_t width) {
  std::string cell = printable(job.id);
  if (job.command.empty()) return cell;
  cell += ": ";
  const std::size_t used = columns_of(cell);
  return cell + commands.fitted(job.command, width > used ? width - used : 0);
}

std::string stall_cell(const std::optional<Stall>& stall) {
  if (!stall) return "-";
  if (stall->some == Duration{}) return "0";
  return fmt::format("{} {}", format_duration(stall->some), name_of(stall->resource));
}

void append_row(std::vector<Column>& columns, const JobFigures& job) {
  constexpr const char* kNotMeasured = "-";
  std::size_t column = 0;
  for (std::string& cell :
       Items{job.peak ? format_bytes(*job.peak) : kNotMeasured,
             job.cpu ? format_duration(*job.cpu) : kNotMeasured,
             job.wall ? format_duration(*job.wall) : kNotMeasured, stall_cell(job.stall),
             job.succeeded ? "ok" : std::string(policy::name_of(job.outcome))}) {
    columns[column++].cells.push_back(std::move(cell));
  }
}

// Its command stands behind the reason, or below it where there is too little room.
std::string failed_lines(const JobFigures& job, const SharedText& commands, std::size_t width) {
  constexpr std::size_t kCommandMin = 16;
  constexpr std::size_t kIndent = 6;
  std::string line = "  " + printable(job.id + ": " + (job.reason.empty() ? job.how : job.reason));
  if (job.command.empty()) return fitted(line, width) + '\n';
  constexpr std::size_t kBrackets = 3;  // " []"
  const std::size_t used = columns_of(line) + kBrackets;
  if (used + kCommandMin <= width) {
    return line + " [" + commands.fitted(job.command, width - used) + "]\n";
  }
  return fitted(line, width) + '\n' + std::string(kIndent, ' ') +
         commands.fitted(job.command, width > kIndent ? width - kIndent : 0) + '\n';
}

std::string failed_list(const TopJobs& top_jobs, const TextStyle& style) {
  std::string out;
  for (const JobFigures& job : top_jobs.failed()) {
    out += failed_lines(job, top_jobs.commands(), style.width);
  }
  const std::uint64_t failed =
      top_jobs.jobs() - top_jobs.succeeded() - top_jobs.skipped() - top_jobs.cancelled();
  if (failed > top_jobs.failed().size()) {
    out += fmt::format("  and {} more; `plimsoll explain last --failed` lists them\n",
                       failed - top_jobs.failed().size());
  }
  return out;
}

// Jobs by their ends: of those that exited the good ones apart.
Items outcome_items(const RunSummary& summary, const TopJobs& top_jobs) {
  Items items;
  if (top_jobs.succeeded() > 0) items.push_back(fmt::format("ok {}", top_jobs.succeeded()));
  for (const auto& [outcome, count] : summary.outcomes) {
    const bool exited = outcome == policy::Outcome::exited;
    const std::uint64_t rest = exited ? count - std::min(count, top_jobs.succeeded()) : count;
    if (rest == 0) continue;
    items.push_back(fmt::format("{} {}", exited ? "failed" : policy::name_of(outcome), rest));
  }
  return items;
}

// The first line of a run's end, without "plimsoll: ".
std::string end_text(const RunSummary& summary, const TopJobs& top_jobs, Colour colour) {
  std::string head = fmt::format("{} of {} jobs succeeded", top_jobs.succeeded(), top_jobs.jobs());
  bool good = top_jobs.succeeded() == top_jobs.jobs();
  if (const auto& command = summary.command) {
    good = policy::succeeded(command->outcome, command->exit_code);
    head = "the command " + policy::describe({.outcome = command->outcome,
                                              .exit_code = command->exit_code,
                                              .signal = command->signal});
    const bool says_more = command->outcome != policy::Outcome::signalled;
    if (says_more && !command->reason.empty()) head += ": " + printable(command->reason);
  }
  std::string text = toned(std::move(head), good ? Tone::good : Tone::bad, colour);
  if (summary.makespan) text += " in " + format_duration(*summary.makespan);
  return text + '\n';
}

Items step_items(const RunSummary& summary) {
  const CommandReport& command = *summary.command;
  if (!command.why_whole.empty()) {
    return {"none, as the command was measured as a whole: " + printable(command.why_whole)};
  }
  Items items = {std::to_string(summary.jobs)};
  if (command.small_steps > 0) {
    items.push_back(
        fmt::format("of which {} small ones that were not measured", command.small_steps));
  }
  if (!command.why_watched.empty()) items.push_back("without those too short to be seen");
  return items;
}

Items governor_items(const RunSummary& summary) {
  Items items;
  if (summary.command) {
    const CommandReport& of = *summary.command;
    const auto steps = [](std::uint64_t count) { return counted(count, "step", "steps"); };
    items = {"held " + steps(of.held_steps), "paused " + counted(summary.pauses, "time", "times")};
    if (of.killed_steps > 0) {
      items.push_back("killed " + steps(of.killed_steps) + " for want of memory");
    }
    if (of.steps_again > 0) items.push_back("ran " + steps(of.steps_again) + " again unseen");
    if (of.reruns > 0) items.push_back("run again " + counted(of.reruns, "time", "times"));
    return items;
  }
  if (summary.job_commands > 0) items.push_back(fmt::format("commands {}", summary.job_commands));
  if (summary.holds > 0) items.push_back(fmt::format("holds {}", summary.holds));
  if (summary.pauses > 0) items.push_back(fmt::format("pauses {}", summary.pauses));
  if (summary.evictions > 0) items.push_back(fmt::format("evictions {}", summary.evictions));
  return items;
}

Items jobserver_items(const RunSummary& summary) {
  if (!summary.command || summary.command->tokens_recovered == 0) return {};
  return {counted(summary.command->tokens_recovered, "token of a killed client was",
                  "tokens of killed clients were") +
          " replaced"};
}

// Of these outcomes the reason is a sentence that says how the job ended.
bool is_told_by_reason(const JobReport& report) {
  const policy::Outcome outcome = report.outcome;
  return !report.reason.empty() &&
         (outcome == policy::Outcome::signalled || outcome == policy::Outcome::over_limit ||
          outcome == policy::Outcome::machine_oom);
}

}  // namespace

std::string job_summary(const JobReport& report, const TextStyle& style) {
  const bool good = policy::succeeded(report.outcome, report.exit_code);
  std::string how = is_told_by_reason(report) ? printable(report.reason)
                                              : policy::describe({.outcome = report.outcome,
                                                                  .exit_code = report.exit_code,
                                                                  .signal = report.signal});
  std::string out =
      "plimsoll: " + toned(std::move(how), good ? Tone::good : Tone::bad, style.colour);
  if (!report.reason.empty() && !is_told_by_reason(report)) out += ": " + printable(report.reason);
  out += '\n';
  out += labelled_text("time", time_items(report), style.width);
  out += labelled_text("memory", memory_items(report), style.width);
  if (report.usage) out += usage_lines(*report.usage, style.width);
  out += labelled_text("left behind", left_items(report), style.width);
  out += labelled_text("attempts", attempt_items(report), style.width);
  if (style.detail == Detail::verbose) {
    counters::Unavailable all = report.unavailable;
    if (report.usage)
      all.insert(report.usage->unavailable.begin(), report.usage->unavailable.end());
    out += unavailable_lines(all);
  }
  return out;
}

std::string heaviest_table(const TopJobs& top_jobs, const Heaviest& which, const TextStyle& style) {
  // Narrower terminals have no room for a job's name beside its outcome.
  constexpr std::size_t kOutcomeFromWidth = 80;
  constexpr std::size_t kOutcomeColumn = 4;
  std::vector<JobFigures> jobs = top_jobs.heaviest(which.by);
  std::erase_if(jobs,
                [&](const JobFigures& job) { return job.peak.value_or(Bytes{}) < which.from; });
  if (jobs.empty()) return {};
  std::vector<Column> columns = {{"memory", Align::right, {}}, {"cpu", Align::right, {}},
                                 {"wall", Align::right, {}},   {"stall", Align::right, {}},
                                 {"outcome", Align::left, {}}, {"job", Align::left, {}}};
  for (const JobFigures& job : jobs) append_row(columns, job);
  if (style.width < kOutcomeFromWidth) columns.erase(columns.begin() + kOutcomeColumn);
  const std::size_t width = last_column_width(columns, style.width);
  for (const JobFigures& job : jobs)
    columns.back().cells.push_back(job_cell(job, top_jobs.commands(), width));
  return toned(fmt::format("heaviest by {}:", name_of(which.by)), Tone::strong, style.colour) +
         '\n' + table_text(columns, style.width);
}

std::string heaviest_tables(const TopJobs& top_jobs, const TextStyle& style) {
  std::string text;
  std::set<std::string> named;
  for (const Weight by : {Weight::memory, Weight::cpu, Weight::stall}) {
    std::size_t news = 0;
    for (const JobFigures& job : top_jobs.heaviest(by))
      news += named.insert(job.id).second ? 1u : 0u;
    if (news > 0) text += heaviest_table(top_jobs, {.by = by, .from = {}}, style);
  }
  return text;
}

std::string run_text(const RunSummary& summary, const TopJobs& top_jobs, const TextStyle& style) {
  std::string out = "plimsoll: " + end_text(summary, top_jobs, style.colour);
  Items cpu, memory;
  add(cpu, "used", summary.cpu_usage);
  if (summary.lost_cpu > Duration{}) {
    add(cpu, "lost", summary.lost_cpu);
    if (summary.cpu_usage > Duration{}) {
      cpu.back() +=
          fmt::format(" ({})", percent_text(static_cast<double>(summary.lost_cpu->count()),
                                            static_cast<double>(summary.cpu_usage->count())));
    }
  }
  add_others(cpu, summary);
  if (summary.used_peak > Bytes{}) add_of(memory, "used peak", summary.used_peak, summary.line);
  if (summary.oom_kills > 0u) memory.push_back(fmt::format("kernel kills {}", *summary.oom_kills));
  // Steps of builds that are well exit with other codes than 0.
  const bool tells_failed = !summary.command && top_jobs.succeeded() != top_jobs.jobs();
  if (summary.command) out += labelled_text("steps", step_items(summary), style.width);
  if (tells_failed) out += labelled_text("outcomes", outcome_items(summary, top_jobs), style.width);
  out += labelled_text("cpu", cpu, style.width) + labelled_text("memory", memory, style.width) +
         labelled_text("governor", governor_items(summary), style.width) +
         labelled_text("jobserver", jobserver_items(summary), style.width);
  if (const std::string failed = failed_list(top_jobs, style); tells_failed && !failed.empty()) {
    out += toned("failed:", Tone::strong, style.colour) + '\n' + failed;
  }
  if (style.detail == Detail::verbose) {
    out += labelled_text("estimates", estimate_items(summary.calibration), style.width);
    out += unavailable_lines(summary.unavailable);
  }
  return out;
}

}  // namespace plimsoll::report
