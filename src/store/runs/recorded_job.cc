#include "store/runs/recorded_job.h"

#include <algorithm>
#include <limits>
#include <map>

#include "report/json_read.h"
#include "store/runs/recorded_usage.h"

namespace plimsoll::report {
namespace {

// What lies in the wrong order was not written by us, and would mean nothing as a course.
template <class Sample>
std::vector<Sample> read_list(const Json& list, Sample (*read)(const Json&), auto time) {
  std::vector<Sample> samples;
  if (!list.is_array()) return samples;
  for (const Json& item : list) samples.push_back(read(item));
  if (!std::ranges::is_sorted(samples, {}, time)) std::ranges::sort(samples, {}, time);
  return samples;
}

}  // namespace

std::optional<RecordedJob> parse_recorded_job(std::string_view text) {
  const auto report = parse_document(text, "plimsoll.job/1");
  if (!report) return std::nullopt;
  RecordedJob job;
  job.id = text_at(*report, "id");
  job.job_class = text_at(*report, "class");
  job.command = command_at(*report);
  job.cwd = text_at(*report, "cwd");
  job.needs = texts_at(*report, "needs");
  if (const Json& priority = member(*report, "priority"); priority.is_number_integer()) {
    job.priority = priority.get<int>();
  }
  job.outcome = text_at(*report, "outcome");
  if (const Json& code = member(*report, "exit_code"); code.is_number_integer()) {
    job.exit_code = code.get<std::int64_t>();
  }
  job.signal = text_at(*report, "signal");
  job.reason = text_at(*report, "reason");
  const Json& attempts = member(*report, "attempts");
  job.attempts = attempts.is_array() ? attempts.size() : 0;
  job.wall = duration_at(member(*report, "times"), "wall_ns");
  job.cpus = count_at(member(*report, "host"), "cpus");
  job.usage.samples = read_list(member(*report, "samples"), read_sample, &counters::Sample::t);
  job.usage.totals = job.usage.samples.empty() ? read_totals(*report) : job.usage.samples.back();
  job.machine = read_cpu_times(member(member(*report, "machine"), "cpu"));
  return job;
}

std::vector<counters::SystemSample> parse_system_samples(std::string_view text) {
  const auto summary = parse_document(text, "plimsoll.run/1");
  if (!summary) return {};
  return read_list(member(*summary, "system_samples"), read_system_sample,
                   &counters::SystemSample::at);
}

void into_order_of_input(std::vector<RecordedJob>& jobs, const std::vector<RecordedEvent>& events) {
  std::map<std::string, std::uint64_t> numbers;
  for (const RecordedEvent& event : events) {
    if (event.number) numbers.emplace(event.job, *event.number);
  }
  // Of equal keys it keeps the order in which they came.
  std::multimap<std::uint64_t, RecordedJob> ordered;
  for (RecordedJob& job : jobs) {
    const auto number = numbers.find(job.id);
    ordered.emplace(
        number == numbers.end() ? std::numeric_limits<std::uint64_t>::max() : number->second,
        std::move(job));
  }
  jobs.clear();
  for (auto& [number, job] : ordered) jobs.push_back(std::move(job));
}

}  // namespace plimsoll::report
