#include "analysis/csv.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "analysis/words.h"
#include "policy/job/event.h"

namespace plimsoll::analysis {
namespace {

// A cell that begins with one of these is a formula to a spreadsheet: a job could have a name that
// computes something on the machine of whoever looks at the table.
constexpr std::string_view kFormulaBegins = "=+-@\t\r";

// One line, cell by cell.
class CsvLine {
 public:
  CsvLine& text(const std::string& cell) {
    begin_cell();
    const bool is_like_formula =
        !cell.empty() && kFormulaBegins.find(cell.front()) != std::string_view::npos;
    return is_like_formula ? quoted_if_need_be('\'' + cell) : quoted_if_need_be(cell);
  }
  CsvLine& number(std::optional<Bytes> value) {
    return whole(value ? std::optional(value->count) : std::nullopt);
  }
  CsvLine& number(std::optional<Duration> value) {
    return whole(value ? std::optional(value->count()) : std::nullopt);
  }
  CsvLine& number(std::optional<WallTime> value) {
    return whole(value ? std::optional(value->time_since_epoch().count()) : std::nullopt);
  }
  template <class Whole>
  CsvLine& whole(std::optional<Whole> value) {
    begin_cell();
    if (value) line_ += std::to_string(*value);
    return *this;
  }
  CsvLine& fraction(std::optional<double> value) {
    begin_cell();
    if (value) line_ += fmt::format("{}", *value);  // the shortest that reads back the same
    return *this;
  }
  [[nodiscard]] std::string end() && { return std::move(line_) + '\n'; }

 private:
  void begin_cell() {
    if (has_cells_) line_ += ',';
    has_cells_ = true;
  }
  CsvLine& quoted_if_need_be(const std::string& cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line_ += utf8(cell);
      return *this;
    }
    line_ += '"';
    for (const char c : utf8(cell)) {
      if (c == '"') line_ += '"';
      line_ += c;
    }
    line_ += '"';
    return *this;
  }

  std::string line_;
  bool has_cells_ = false;
};

std::optional<Duration> some_of(const std::optional<counters::Pressure>& pressure) {
  return pressure && pressure->some ? std::optional(pressure->some->total) : std::nullopt;
}

std::string job_line(const JobRow& job) {
  CsvLine line;
  line.text(job.id).text(job.number > 0 ? std::to_string(job.number) : "").text(job.job_class);
  line.text(job.command).text(job.outcome);
  line.whole(job.exit_code).text(job.signal).whole(std::optional(job.attempts));
  line.number(job.queued).number(job.started).number(job.ended);
  line.number(job.wall).number(job.ran).number(job.held).number(job.paused).number(job.cpu);
  line.number(job.peak).number(job.kernel_peak).number(job.limit);
  line.number(job.read).number(job.written);
  return std::move(line).end();
}

}  // namespace

std::string jobs_csv(const std::vector<JobRow>& jobs) {
  std::string text =
      "id,number,class,command,outcome,exit_code,signal,attempts,queued_unix_ns,started_unix_ns,"
      "ended_unix_ns,wall_ns,ran_ns,held_ns,paused_ns,cpu_usage_ns,used_peak_bytes,peak_bytes,"
      "max_bytes,io_read_bytes,io_write_bytes\n";
  for (const JobRow& job : jobs) text += job_line(job);
  return text;
}

std::string events_csv(const std::vector<report::RecordedEvent>& events) {
  std::map<std::string, std::optional<double>> cells;  // by name of the number
  for (const report::RecordedEvent& event : events) {
    for (const auto& [name, value] : event.numbers) cells[name];
  }
  CsvLine heading;
  for (const char* name : {"t_ns", "kind", "job", "number", "reason"}) heading.text(name);
  for (const auto& [name, value] : cells) heading.text(name);
  std::string text = std::move(heading).end();
  for (const report::RecordedEvent& event : events) {
    CsvLine line;
    line.number(std::optional(event.t)).text(std::string(policy::name_of(event.kind)));
    line.text(event.job).whole(event.number).text(event.reason);
    for (auto& [name, value] : cells) value.reset();
    for (const auto& [name, value] : event.numbers) cells[name] = value;
    for (const auto& [name, value] : cells) line.fraction(value);
    text += std::move(line).end();
  }
  return text;
}

std::string samples_csv_heading() {
  return "job,t_ns,unix_ns,state,used_bytes,memory_bytes,swap_bytes,cpu_usage_ns,io_read_bytes,"
         "io_write_bytes,pids,cpu_some_ns,memory_some_ns,io_some_ns\n";
}

std::string samples_csv(const report::RecordedJob& job) {
  std::string text;
  for (const counters::Sample& sample : job.usage.samples) {
    CsvLine line;
    line.text(job.id).number(std::optional(sample.t)).number(std::optional(sample.wall));
    line.text(sample.state == counters::SampleState::paused ? "paused" : "running");
    line.number(sample.memory.used).number(sample.memory.current);
    line.number(sample.memory.swap_current).number(sample.cpu.usage);
    line.number(sample.io.read).number(sample.io.written).whole(sample.pids.current);
    line.number(some_of(sample.cpu.pressure)).number(some_of(sample.memory.pressure));
    line.number(some_of(sample.io.pressure));
    text += std::move(line).end();
  }
  return text;
}

}  // namespace plimsoll::analysis
