#include "cli/top/rows.h"

#include <algorithm>

#include "cli/progress/parts.h"

namespace plimsoll::cli::top {
namespace {

using supervisor::RunningJob;

// Of ASCII; the locale has no say.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view part) {
  const auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                 [](char a, char b) { return lower(a) == lower(b); });
  return found != text.end();
}

bool is_shown(const RunningJob& job, std::string_view filter) {
  return filter.empty() || contains(job.name, filter) || contains(job.command, filter) ||
         contains(state_text(job.state), filter) || contains(cause_text(job), filter);
}

std::optional<double> bytes_of(std::optional<Bytes> bytes) {
  return bytes ? std::optional(to_double(*bytes)) : std::nullopt;
}

// What rows are put in order by, the highest first.
std::optional<double> weight(const Row& row, SortKey key) {
  const RunningJob& job = *row.job;
  switch (key) {
    case SortKey::age: return to_seconds(age_of(job));
    case SortKey::used: return bytes_of(job.used);
    case SortKey::estimate: return job.estimate > Bytes{} ? bytes_of(job.estimate) : std::nullopt;
    case SortKey::growth: return job.growth;
    case SortKey::cores: return job.state == policy::JobState::running ? job.cores : std::nullopt;
    case SortKey::io: return row.io_rate;
    case SortKey::state: return -static_cast<double>(job.state);
    case SortKey::job: return 0;
  }
  return std::nullopt;
}

struct Weighed {
  Row row;
  std::optional<double> weight;
};

bool waits(const Row& row) { return row.job->state == policy::JobState::waiting; }

bool goes_before(const Weighed& a, const Weighed& b, SortOrder order) {
  const bool is_reversed = order == SortOrder::reversed;
  // What has not started has no figures.
  if (waits(a.row) != waits(b.row)) return waits(b.row);
  if (a.weight.has_value() != b.weight.has_value()) return a.weight.has_value();
  if (a.weight && *a.weight != *b.weight) return (*a.weight > *b.weight) != is_reversed;
  const auto place = [](const Row& row) { return std::pair(row.run, row.job->job); };
  if (place(a.row) == place(b.row)) return false;
  return (place(a.row) < place(b.row)) != is_reversed;
}

std::optional<RunningJob> next_of(const supervisor::RunStatus& status) {
  if (!status.holding) return std::nullopt;
  RunningJob job;
  job.job = status.holding->job;
  job.state = policy::JobState::waiting;
  job.name = status.holding->name;
  job.reason = status.holding->reason;
  return job;
}

}  // namespace

void take_status(RunView& view, supervisor::RunStatus status, Instant now) {
  view.io_rates.clear();
  const double passed = to_seconds(now - view.heard);
  if (view.status && passed > 0) {
    std::unordered_map<JobId, const RunningJob*> before;
    for (const RunningJob& job : view.status->running) before.emplace(job.job, &job);
    for (const RunningJob& job : status.running) {
      const auto found = before.find(job.job);
      if (!job.io || found == before.end() || !found->second->io) continue;
      // The next attempt of a job begins anew.
      if (found->second->attempt != job.attempt) continue;
      view.io_rates[job.job] = to_double(*job.io - *found->second->io) / passed;
    }
  }
  view.next = next_of(status);
  view.status = std::move(status);
  view.heard = now;
}

std::string_view name_of(SortKey key) { return kSortKeys[static_cast<std::size_t>(key)].second; }

Result<SortKey> parse_sort_key(std::string_view text) {
  std::string known;
  for (const auto& [key, name] : kSortKeys) {
    if (name == text) return key;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return fail("found \"" + std::string(text) + "\", expected one of " + known);
}

SortKey key_after(SortKey key) {
  return kSortKeys[(static_cast<std::size_t>(key) + 1) % kSortKeys.size()].first;
}

std::vector<Row> rows_of(const std::vector<RunView>& runs, const RowChoice& choice) {
  std::vector<Weighed> weighed;
  const auto add = [&](std::size_t run, const RunningJob& job) {
    if (!is_shown(job, choice.filter)) return;
    const auto rate = runs[run].io_rates.find(job.job);
    Row row{.run = run, .job = &job, .io_rate = {}};
    if (rate != runs[run].io_rates.end()) row.io_rate = rate->second;
    weighed.push_back({row, weight(row, choice.sort)});
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (choice.run && *choice.run != run) continue;
    if (!runs[run].status) continue;
    for (const RunningJob& job : runs[run].status->running) add(run, job);
    if (runs[run].next) add(run, *runs[run].next);
  }
  std::sort(weighed.begin(), weighed.end(),
            [&](const Weighed& a, const Weighed& b) { return goes_before(a, b, choice.order); });
  std::vector<Row> rows;
  rows.reserve(weighed.size());
  for (const Weighed& each : weighed) rows.push_back(each.row);
  return rows;
}

std::string_view state_text(policy::JobState state) {
  switch (state) {
    case policy::JobState::running: return "running";
    case policy::JobState::frozen: return "paused";
    case policy::JobState::waiting: return "waiting";
  }
  return "";
}

}  // namespace plimsoll::cli::top
