#include "supervisor/doctor/diagnosis.h"

#include "base/text.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/run_tree.h"
#include "supervisor/doctor/probe_groups.h"
#include "supervisor/doctor/probe_host.h"
#include "supervisor/doctor/probe_limits.h"
#include "supervisor/doctor/probe_memory.h"
#include "supervisor/doctor/probe_pressure.h"
#include "supervisor/doctor/probe_process.h"
#include "supervisor/doctor/probe_watch.h"
#include "supervisor/run/pool_terms.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using report::Check;

// The directories below which the run's own are: of each part of the pool two levels up.
std::vector<std::string> bases_of(const cgroup::Group& pool) {
  std::vector<std::string> bases;
  for (const cgroup::Group::Part& part : pool.parts()) {
    std::string path = part.directory.label();
    for (int level = 0; level < 2; ++level) path.resize(path.rfind('/'));
    bases.push_back(std::move(path));
  }
  return bases;
}

// Without the pointer to this very command that errors of placement end with.
std::string own_words(std::string message) {
  constexpr std::string_view kPointer = "; `plimsoll doctor` explains it";
  const std::size_t found = message.find(kPointer);
  if (found != std::string::npos) message.erase(found, kPointer.size());
  return message;
}

// Of the hierarchy that decides: v2 where there is one.
Check placement_of(const Patient& patient, const std::vector<std::string>& bases) {
  const auto& why = patient.supervisor->why_process_mode();
  if (why) return judge_process_mode(own_words(*why));
  const cgroup::Hierarchy& first = patient.supervisor->hierarchies().all.front();
  return judge_placement({.named = patient.cgroup_path.has_value(),
                          .own = first.directory_of(first.own_path),
                          .base = bases.front(),
                          .run_name = cgroup::run_name(patient.run_id)});
}

// Errors of placement say after a semicolon what would help.
Check no_placement(const Error& error) {
  const std::string words = own_words(error.message());
  std::string_view remedy = words;
  const std::string_view value = take_until(remedy, ';');
  return {.id = "placement",
          .state = report::CheckState::missing,
          .value = std::string(value),
          .cost = "no job can be run",
          .remedy = std::string(trim(remedy))};
}

// What needs no group.
void probe_without_groups(report::DoctorReport& report) {
  report.sections.push_back({"Memory", {probe_swap()}});
  report.sections.push_back({"Pressure", probe_pressure(nullptr)});
}

void probe_with_machine(Supervisor& supervisor, report::DoctorReport& report) {
  auto groups = probe_groups(supervisor);
  if (groups) {
    report.sections.push_back({"Groups", std::move(*groups)});
  } else {
    report.why_not = groups.error().message();
  }
  auto leaf = supervisor.make_group("probe-files", {});
  if (!leaf) {
    if (report.why_not.empty()) report.why_not = leaf.error().message();
    return;
  }
  std::vector<Check> memory = probe_memory(*leaf);
  memory.push_back(probe_swap());
  report.sections.push_back({"Memory", std::move(memory)});
  report.sections.push_back({"Pressure", probe_pressure(&*leaf)});
  report.sections.push_back({"Watch", probe_watch(supervisor, *leaf)});
  report.sections.push_back({"CPU, I/O, processes", probe_limits(*leaf, supervisor.network())});
}

// What holds where nobody says otherwise.
std::vector<Check> probe_pool(const Supervisor& supervisor) {
  const PoolOptions options;
  auto governor = pool_governor(options, supervisor);
  if (!governor) {
    return {{.id = "batch.line",
             .state = report::CheckState::missing,
             .value = governor.error().message(),
             .cost = "plimsoll batch does not start without --line",
             .remedy = "more memory, or a --reserve that leaves some"}};
  }
  std::vector<Check> checks;
  for (PoolTerm& term : pool_terms(options, *governor, pool_facts(supervisor))) {
    checks.push_back({.id = "batch." + term.name, .value = term.value + ": " + term.origin});
  }
  return checks;
}

}  // namespace

ControllerSet controllers_at_hand(const std::optional<std::string>& cgroup_path) {
  ControllerSet at_hand;
  if (cgroup_path == kNoCgroup) return at_hand;
  const auto found = cgroup::discover_hierarchies();
  if (!found) return at_hand;
  for (const Controller controller : {Controller::cpu, Controller::io}) {
    const cgroup::Hierarchy* hierarchy = found->of(controller);
    if (hierarchy == nullptr || hierarchy->version == cgroup::Version::v2) continue;
    const ControllerSet wanted(controller);
    if (cgroup::find_placement({{*hierarchy}}, {cgroup_path, {}, wanted})) at_hand.add(controller);
  }
  return at_hand;
}

report::DoctorReport diagnose(const Patient& patient) {
  report::DoctorReport report;
  cgroup::Hierarchies hierarchies;
  std::vector<std::string> bases;
  if (patient.supervisor != nullptr) {
    hierarchies = patient.supervisor->hierarchies();
    bases = bases_of(patient.supervisor->pool());
  } else if (auto found = cgroup::discover_hierarchies()) {
    hierarchies = std::move(*found);
  }
  std::vector<Check> host = probe_host(hierarchies, bases);
  host.push_back(patient.supervisor != nullptr ? placement_of(patient, bases)
                                               : no_placement(*patient.why_no_machine));
  host.push_back(probe_delegation(hierarchies));
  report.sections.push_back({"Host", std::move(host)});
  if (patient.supervisor != nullptr && patient.supervisor->why_process_mode()) {
    probe_without_groups(report);
  } else if (patient.supervisor != nullptr) {
    probe_with_machine(*patient.supervisor, report);
  } else {
    report.why_not = own_words(patient.why_no_machine->message());
    probe_without_groups(report);
  }
  if (patient.supervisor != nullptr) {
    report.sections.push_back({"What a batch would take", probe_pool(*patient.supervisor)});
  }
  report.sections.push_back({"This process", probe_process()});
  return report;
}

}  // namespace plimsoll::supervisor
