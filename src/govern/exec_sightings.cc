#include "govern/exec_sightings.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace plimsoll::govern {

ExecSightings::ExecSightings(int top, std::set<procfs::Id> before)
    : top_(top), others_(std::move(before)) {}

ExecSightings::Mark ExecSightings::mark_of(const procfs::Stat& stat) {
  return {.has_executed = !stat.is_copy,
          .stack = stat.stack,
          .code_end = stat.code_end,
          .comm = stat.stack == 0 ? stat.comm : std::string()};
}

ExecSightings::Side ExecSightings::known_side(const procfs::Id& id) const {
  if (others_.contains(id)) return Side::others;
  return marks_.contains(id) ? Side::commands : Side::nobodys;
}

// A table is read while processes come and go: it may go in circles, and lack somebody's parent.
ExecSightings::Place ExecSightings::place_of(const procfs::Stat& stat, const procfs::Table& table,
                                             std::map<int, Place>& found) const {
  std::vector<int> way;  // from the process up to one whose place is known
  Place place;
  for (const procfs::Stat* at = &stat;;) {
    if (const auto known = found.find(at->id.pid); known != found.end()) {
      place = known->second;
      break;
    }
    way.push_back(at->id.pid);
    place.side = known_side(at->id);
    found[at->id.pid] = place;
    if (place.side == Side::others) break;
    if (at->parent == top_) {
      place.side = Side::commands;
      break;
    }
    const auto parent = table.find(at->parent);
    if (parent == table.end()) break;
    at = &parent->second;
  }
  for (auto pid = way.rbegin(); pid != way.rend(); ++pid) {
    ++place.depth;
    found[*pid] = place;
  }
  return place;
}

std::vector<procfs::Stat> ExecSightings::take(const procfs::Table& table) {
  std::map<int, Place> places;
  std::map<procfs::Id, Mark> marks;
  std::set<procfs::Id> others;
  std::vector<procfs::Stat> seen;
  for (const auto& [pid, stat] : table) {
    const Side side = place_of(stat, table, places).side;
    if (side == Side::others) others.insert(stat.id);
    if (side != Side::commands) continue;
    const Mark mark = mark_of(stat);
    const auto before = marks_.find(stat.id);
    const bool is_new = before == marks_.end() || before->second != mark;
    if (mark.has_executed && is_new) seen.push_back(stat);
    marks.emplace(stat.id, mark);
  }
  marks_ = std::move(marks);
  others_ = std::move(others);
  const auto rank = [&places](const procfs::Stat& stat) {
    return std::tuple(places.at(stat.id.pid).depth, stat.id.start, stat.id.pid);
  };
  std::sort(seen.begin(), seen.end(),
            [&rank](const auto& one, const auto& other) { return rank(one) < rank(other); });
  return seen;
}

// It stays one of the command's, whoever its parent is by then.
void ExecSightings::forget(const procfs::Id& process) {
  const auto found = marks_.find(process);
  if (found != marks_.end()) found->second = {};
}

void ExecSightings::forget(const procfs::Id& process, std::uint64_t stack) {
  const auto found = marks_.find(process);
  if (found != marks_.end() && found->second.stack == stack) found->second = {};
}

}  // namespace plimsoll::govern
