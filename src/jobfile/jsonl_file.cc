#include "jobfile/jsonl_file.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "jobfile/closest.h"
#include "jobfile/draft.h"
#include "jobfile/json_keys.h"
#include "jobfile/json_value.h"
#include "jobfile/place.h"
#include "jobfile/records.h"
#include "jobfile/spec.h"

namespace plimsoll::jobfile {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;  // name -> place in the drafts

// So many names of a circle are told; the rest would hide the point.
constexpr std::size_t kCircleNamesMax = 12;

std::string in_quotes(std::string_view name) { return '"' + std::string(name) + '"'; }

std::size_t place_of(JobId job) { return static_cast<std::size_t>(job) - 1; }

Result<Index> index_names(const std::vector<Draft>& drafts, std::string_view file) {
  Index index;
  index.reserve(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const auto [entry, fresh] = index.emplace(drafts[i].spec.name, i);
    if (fresh) continue;
    return fail_at({file, drafts[i].line},
                   "\"id\": found " + in_quotes(drafts[i].spec.name) +
                       " again, expected ids that differ; line " +
                       std::to_string(drafts[entry->second].line) +
                       " has it already (a job without an id has its number as its id)");
  }
  return index;
}

tl::unexpected<Error> unknown_need(const std::vector<Draft>& drafts, const Draft& draft,
                                   std::string_view need, std::string_view file) {
  std::vector<std::string_view> names;
  names.reserve(drafts.size());
  for (const Draft& other : drafts) names.emplace_back(other.spec.name);
  const auto meant = closest(need, names);
  return fail_at({file, draft.line},
                 "\"needs\": found " + in_quotes(need) + ", expected the id of a job of this file" +
                     (meant ? ", perhaps " + in_quotes(*meant) : std::string()));
}

// Finds a circle by walking along the needs depth first, without recursion: chains are as long as
// the input likes.
class CircleFinder {
 public:
  explicit CircleFinder(const std::vector<Draft>& drafts)
      : drafts_(drafts), states_(drafts.size(), State::unseen) {}

  // The jobs of a circle in order; nothing if there is none.
  std::optional<std::vector<std::size_t>> find() {
    for (std::size_t start = 0; start < drafts_.size(); ++start) {
      if (states_[start] != State::unseen) continue;
      if (auto circle = walk_from(start)) return circle;
    }
    return std::nullopt;
  }

 private:
  enum class State : std::uint8_t { unseen, on_path, done };
  struct Step {
    std::size_t job = 0;
    std::size_t next_need = 0;
  };

  std::optional<std::vector<std::size_t>> walk_from(std::size_t start) {
    std::vector<Step> path;
    const auto enter = [&](std::size_t job) {
      states_[job] = State::on_path;
      path.push_back({job, 0});
    };
    enter(start);
    while (!path.empty()) {
      Step& step = path.back();
      const std::vector<JobId>& needs = drafts_[step.job].spec.needs;
      if (step.next_need == needs.size()) {
        states_[step.job] = State::done;
        path.pop_back();
        continue;
      }
      const std::size_t need = place_of(needs[step.next_need++]);
      if (states_[need] == State::on_path) return circle_to(path, need);
      if (states_[need] == State::unseen) enter(need);
    }
    return std::nullopt;
  }

  static std::vector<std::size_t> circle_to(const std::vector<Step>& path, std::size_t job) {
    std::vector<std::size_t> circle;
    for (const Step& step : path) {
      if (!circle.empty() || step.job == job) circle.push_back(step.job);
    }
    return circle;
  }

  const std::vector<Draft>& drafts_;
  std::vector<State> states_;
};

std::string describe(const std::vector<std::size_t>& circle, const std::vector<Draft>& drafts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(circle.size(), kCircleNamesMax); ++i) {
    text += in_quotes(drafts[circle[i]].spec.name) + " -> ";
  }
  if (circle.size() > kCircleNamesMax) text += "... -> ";
  return text + in_quotes(drafts[circle.front()].spec.name);
}

Result<Draft> parse_job(const Record& record, std::uint64_t number,
                        const policy::JobSpec& defaults) {
  auto object = parse_object(record.text);
  if (!object) return pass(std::move(object));
  Draft draft{.spec = numbered(defaults, number), .needs = {}, .line = record.number};
  auto usable = apply_keys(*object, draft);
  if (usable) usable = check_job_count(number);
  if (usable) usable = check_lengths(draft.spec.command);
  if (!usable) return pass(std::move(usable));
  return draft;
}

// Turns the names in `needs` into ids, each once. Errors, at the line of the job in `file`: two
// jobs of one name, a need that is no job's name, a circle of needs (told by its names). O(jobs +
// needs).
Result<void> resolve_needs(std::vector<Draft>& drafts, std::string_view file) {
  auto index = index_names(drafts, file);
  if (!index) return pass(std::move(index));
  for (Draft& draft : drafts) {
    std::vector<JobId>& needs = draft.spec.needs;
    for (const std::string& name : draft.needs) {
      const auto found = index->find(name);
      if (found == index->end()) return unknown_need(drafts, draft, name, file);
      needs.push_back(drafts[found->second].spec.id);
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }
  if (const auto circle = CircleFinder(drafts).find()) {
    return fail_at({file, drafts[circle->front()].line},
                   "\"needs\": found a circle, " + describe(*circle, drafts) +
                       ", expected that no job needs itself, directly or through others");
  }
  return {};
}

}  // namespace

Result<std::vector<policy::JobSpec>> parse_jsonl_jobs(std::string_view text, std::string_view file,
                                                      const policy::JobSpec& defaults) {
  const auto records = split_records(text, file, Separator::newline);
  if (!records) return tl::unexpected(records.error());
  std::vector<Draft> drafts;
  for (const Record& record : *records) {
    if (trim(record.text).empty()) continue;
    auto draft = parse_job(record, drafts.size() + 1, defaults);
    if (!draft) return pass(std::move(draft), where({file, record.number}));
    drafts.push_back(std::move(*draft));
  }
  auto resolved = resolve_needs(drafts, file);
  if (!resolved) return pass(std::move(resolved));
  std::vector<policy::JobSpec> jobs;
  jobs.reserve(drafts.size());
  for (Draft& draft : drafts) jobs.push_back(std::move(draft.spec));
  return jobs;
}

}  // namespace plimsoll::jobfile
