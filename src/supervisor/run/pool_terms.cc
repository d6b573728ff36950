#include "supervisor/run/pool_terms.h"

#include <sys/resource.h>

#include "base/quantity.h"
#include "policy/job/words.h"
#include "supervisor/capacity.h"
#include "supervisor/host.h"

namespace plimsoll::supervisor {
namespace {

std::string of_memory(const PoolFacts& facts) {
  if (facts.capacity < facts.total) {
    return "the " + format_bytes(facts.capacity) +
           " that the limits of Plimsoll's own cgroups leave";
  }
  return "the " + format_bytes(facts.total) + " of the machine";
}

std::string cores_origin(const PoolOptions& options, double cores, const PoolFacts& facts) {
  if (options.cores) return "as --cores says";
  if (cores < facts.cpus) return "a CPU quota of Plimsoll's own cgroups";
  return "all that Plimsoll may run on";
}

std::string jobs_origin(const PoolOptions& options, unsigned jobs_max, const PoolFacts& facts) {
  if (options.jobs_max == jobs_max) return "as --jobs says";
  if (facts.descriptors && jobs_by_descriptors(*facts.descriptors) == jobs_max) {
    return "a limit of " + std::to_string(*facts.descriptors) +
           " open files, of which each job needs " + std::to_string(kDescriptorsPerJob) +
           " (ulimit -Hn)";
  }
  return "the default limit; --jobs sets another";
}

}  // namespace

PoolFacts pool_facts(const Supervisor& supervisor) {
  const report::HostInfo host = describe_host(supervisor);
  return {.total = host.memory,
          .capacity = capacity_of(supervisor),
          .cpus = static_cast<unsigned>(host.cpus),
          .descriptors = descriptor_limit()};
}

std::vector<PoolTerm> pool_terms(const PoolOptions& options, const policy::GovernorConfig& governor,
                                 const PoolFacts& facts) {
  return {{.name = "line",
           .value = format_bytes(governor.line),
           .origin = options.line ? "as " + options.line_name + " says"
                                  : of_memory(facts) + ", less the reserve"},
          {.name = "reserve",
           .value = format_bytes(governor.reserve),
           .origin = options.reserve ? "as " + options.reserve_name + " says"
                                     : "left free for everything else on the machine"},
          {.name = "cores",
           .value = policy::words::decimal(governor.cores),
           .origin = cores_origin(options, governor.cores, facts)},
          {.name = "jobs",
           .value = "at most " + std::to_string(governor.jobs_max) + " at once",
           .origin = jobs_origin(options, governor.jobs_max, facts)}};
}

std::string terms_text(const std::vector<PoolTerm>& terms) {
  std::string text;
  for (const PoolTerm& term : terms) {
    text += "  " + term.name + std::string(10 - std::min<std::size_t>(term.name.size(), 9), ' ') +
            term.value + ": " + term.origin + "\n";
  }
  return text;
}

}  // namespace plimsoll::supervisor
