// What reservations by our estimator would have cost on tasks that somebody has run, beside other
// rules: estimator_bench TRACE..., each a Nextflow trace file, or "-".
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "estimator/nextflow_trace.h"
#include "estimator/rules.h"

namespace plimsoll::bench {
namespace {

// The last part of a process's full name, as much of it as the table has room for.
std::string short_name(const std::string& process) {
  constexpr std::size_t kColumns = 30;
  const std::size_t colon = process.rfind(':');
  return process.substr(colon == std::string::npos ? 0 : colon + 1).substr(0, kColumns);
}

void print_row(const std::string& name, const std::vector<Cost>& costs) {
  std::printf("%-30s %6zu", name.c_str(), costs.front().tasks);
  for (const Cost& cost : costs) std::printf(" %11.3f %5zu", cost.waste, cost.failures);
  std::printf("\n");
}

void print_head(const std::vector<NamedRule>& rules) {
  std::printf("%-30s %6s", "process", "tasks");
  for (const NamedRule& named : rules) {
    std::printf(" %11s %5s", std::string(named.name).c_str(), "fail");
  }
  std::printf("\n");
}

enum class Rows : std::uint8_t { all, total };

// A table of all rules on these tasks in this order, and the ratio.
void compare(const std::vector<Task>& tasks, Rows rows) {
  std::vector<NamedRule> rules = all_rules();
  std::vector<std::map<std::string, Cost>> costs;
  for (NamedRule& named : rules) costs.push_back(replay(tasks, *named.rule));
  if (rows == Rows::all) print_head(rules);
  std::vector<Cost> totals(rules.size());
  for (const auto& [process, unused] : costs.front()) {
    std::vector<Cost> row;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      row.push_back(costs[rule][process]);
      totals[rule] += row.back();
    }
    if (rows == Rows::all) print_row(short_name(process), row);
  }
  print_row("total", totals);
  const auto best =
      std::min_element(totals.begin() + 1, totals.end(),
                       [](const Cost& a, const Cost& b) { return a.waste < b.waste; });
  std::printf("ours wastes %.3f x what \"%s\" does, the best of the others\n",
              best->waste > 0 ? totals.front().waste / best->waste : 1.0,
              std::string(rules[static_cast<std::size_t>(best - totals.begin())].name).c_str());
}

int report(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& input = path == "-" ? std::cin : file;
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  const auto trace = parse_nextflow_trace(text);
  if (!trace) {
    std::fprintf(stderr, "estimator_bench: %s: %s\n", path.c_str(),
                 trace.error().message().c_str());
    return 1;
  }
  std::printf("%s: %zu tasks, %zu rows skipped; GB*h wasted and failed attempts of each rule\n",
              path.c_str(), trace->tasks.size(), trace->skipped);
  if (trace->tasks.empty()) return 0;
  std::multimap<std::uint64_t, Task> by_submission;  // equal ones stay in their order
  for (const Task& task : trace->tasks) by_submission.emplace(task.submitted, task);
  std::vector<Task> submitted;
  for (const auto& [at, task] : by_submission) submitted.push_back(task);
  compare(submitted, Rows::all);
  std::printf("learning in the order of the rows instead, which is that of completion:\n");
  compare(trace->tasks, Rows::total);
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: estimator_bench TRACE...\n");
    return 2;
  }
  int status = 0;
  for (int i = 1; i < argc; ++i) status = std::max(status, plimsoll::bench::report(argv[i]));
  return status;
}
