#include "cli/governor_options.h"

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "cgroup/freeze.h"
#include "cli/options.h"
#include "engine/capacity.h"
#include "engine/host.h"

namespace plimsoll::cli {
namespace {

constexpr Bytes kLineMin{16 << 20};  // less holds no job at all

Bytes amount_of(const MemoryAmount& amount, Bytes whole) {
  if (const Bytes* bytes = std::get_if<Bytes>(&amount)) return *bytes;
  const double share = std::get<Percent>(amount).value / 100;
  return {static_cast<std::uint64_t>(static_cast<double>(whole.count) * share)};
}

Bytes capacity_of(const engine::Machine& machine) {
  const cgroup::Directory* memory = machine.pool().of(cgroup::Controller::memory);
  const Bytes total = engine::describe_host(machine.hierarchies().layout()).memory;
  return memory == nullptr ? total : engine::memory_capacity(*memory, total);
}

}  // namespace

Result<MemoryAmount> parse_memory_amount(std::string_view text) {
  if (!text.ends_with('%')) {
    auto bytes = parse_bytes(text);
    if (!bytes) return pass(std::move(bytes));
    return MemoryAmount(*bytes);
  }
  const auto percent = to_double(text.substr(0, text.size() - 1));
  if (!percent || *percent <= 0 || *percent > 100) {
    return fail("found \"" + std::string(text) +
                "\", expected a size such as 8G, or a share of the memory such as 80%");
  }
  return MemoryAmount(Percent{*percent});
}

void add_governor_options(CLI::App& app, GovernorOptions& options) {
  add_parsed(app, "--line", options.line, parse_memory_amount,
             "Memory that all jobs together may use: 8G, or 80% (all but the reserve)");
  add_parsed(app, "--reserve", options.reserve, parse_memory_amount,
             "Memory left to everybody else (5%, at least 512M or an eighth)");
  add_parsed(app, "--cores", options.cores, parse_cpus,
             "Cores that all jobs together may use (those Plimsoll may use)");
  app.add_flag("--no-evict", options.no_evict, "Kill no job to free memory: hold and pause only");
  app.add_flag("--no-pause", options.no_pause, "Freeze no job");
}

Result<Bytes> line_of(const MemoryAmount& amount, const engine::Machine& machine) {
  const Bytes capacity = capacity_of(machine);
  const Bytes line = amount_of(amount, capacity);
  if (line < kLineMin) {
    return fail("a line of " + format_bytes(line) + " holds no job; at most " +
                format_bytes(capacity) + " are to be had here");
  }
  if (line > capacity) {
    return fail("a line of " + format_bytes(line) + " is more than the " + format_bytes(capacity) +
                " that can be had here");
  }
  return line;
}

Result<policy::GovernorConfig> governor_config(const GovernorOptions& options,
                                               const engine::Machine& machine) {
  const Bytes capacity = capacity_of(machine);
  policy::GovernorConfig config;
  config.reserve =
      options.reserve ? amount_of(*options.reserve, capacity) : engine::default_reserve(capacity);
  auto line = line_of(options.line.value_or(capacity - config.reserve), machine);
  if (!line) return pass(std::move(line), options.line ? "--line" : "--reserve");
  config.line = *line;
  config.cores = options.cores.value_or(engine::usable_cores(machine.hierarchies()));
  config.jobs_max = std::min(static_cast<unsigned>(options.jobs_max.value_or(kJobsMaxDefault)),
                             engine::jobs_by_descriptors());
  config.may_evict = !options.no_evict;
  config.may_pause = !options.no_pause && cgroup::freezer_of(machine.pool()) != nullptr;
  config.has_swap = engine::has_swap();
  return config;
}

}  // namespace plimsoll::cli
