#include "report/buildkit.h"

#include <nlohmann/json.hpp>

#include "kernel/counters/sample_series.h"
#include "report/buildkit_json.h"
#include "report/json_put.h"
#include "report/json_shortest.h"
#include "report/thinned.h"

namespace plimsoll::report {
namespace {

// A quick look leaves out memory.stat, I/O and traffic (counters::Level): of those there are enough
// without such gaps, as the record has a full look as often as it wants one.
std::vector<const counters::Sample*> full_looks(const std::vector<counters::Sample>& samples) {
  std::vector<const counters::Sample*> full;
  for (const counters::Sample& sample : samples) {
    if (sample.memory.used || !samples.back().memory.used) full.push_back(&sample);
  }
  return full;
}

}  // namespace

Json buildkit_usage(const counters::JobUsage& usage,
                    const std::optional<counters::SystemSample::Cpu>& machine) {
  auto samples = Json::array();
  for (const auto* sample :
       thinned<counters::JobTraits>(full_looks(usage.samples), kBuildkitSamplesMax)) {
    samples.push_back(buildkit_sample(*sample));
  }
  const bool measured = usage.totals.wall != WallTime();
  if (usage.samples.empty() && measured) samples.push_back(buildkit_sample(usage.totals));
  auto json = Json::object();
  put_part(json, "samples", std::move(samples));
  if (machine) json["sysCPUStat"] = buildkit_cpu_times(*machine);
  return json;
}

Json buildkit_system_usage(const std::vector<counters::SystemSample>& samples) {
  std::vector<const counters::SystemSample*> all;
  all.reserve(samples.size());
  for (const counters::SystemSample& sample : samples) all.push_back(&sample);
  auto json = Json::array();
  for (const auto* sample : thinned<counters::SystemTraits>(all, kBuildkitSystemSamplesMax)) {
    json.push_back(buildkit_system_sample(*sample));
  }
  return json;
}

std::string to_buildkit_json(const BuildkitReport& report) {
  auto json = Json::object();
  json["resourceUsage"] = buildkit_usage(report.usage, report.machine);
  put_part(json, "sysUsage", buildkit_system_usage(report.system));
  return shortest_text_of(json);
}

}  // namespace plimsoll::report
