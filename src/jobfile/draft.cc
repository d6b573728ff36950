#include "jobfile/draft.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "jobfile/closest.h"
#include "jobfile/place.h"

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
                       " twice, expected a different id for each job; line " +
                       std::to_string(drafts[entry->second].line) +
                       " has the same id (the id of a job without one is its number)");
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

}  // namespace

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
                   "\"needs\": found a cycle, " + describe(*circle, drafts) +
                       ", expected no job that needs itself, directly or through others");
  }
  return {};
}

}  // namespace plimsoll::jobfile
