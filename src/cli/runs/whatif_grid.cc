#include "cli/runs/whatif_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/words.h"
#include "base/quantity.h"
#include "base/text.h"
#include "report/json_text.h"
#include "report/plain.h"
#include "report/table.h"
#include "sim/policies.h"
#include "sim/simulated_executor.h"
#include "sim/simulated_scheduler.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kGovernor = "plimsoll";

// What others take of the cores that jobs may use.
double load_on(const WhatifRun& run, const WhatifMachine& on) {
  const double beside = std::max(run.cores_of_machine.value_or(0) - on.cores, 0.0);
  return std::max(run.other_load - beside, 0.0);
}

sim::Outcome simulated(const WhatifRun& run, const WhatifMachine& on, Knowledge knowledge,
                       std::uint64_t seed) {
  const sim::MachineConfig machine =
      sim::machine_for(sim::GovernorPolicy{}, {.cores = on.cores,
                                               .line = on.line,
                                               .other_load = load_on(run, on),
                                               .noise = sim::Noise::seeded,
                                               .seed = seed});
  std::vector<policy::AttemptSummary> learnt;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const bool is_known =
        knowledge == Knowledge::all || (knowledge == Knowledge::some && run.known[i]);
    if (is_known) learnt.push_back(sim::attempt_summary_of(run.jobs[i]));
  }
  sim::SimulatedExecutor executor(machine, run.jobs);
  sim::SimulatedScheduler scheduler({.machine = machine, .learnt = learnt}, run.jobs, executor);
  executor.run(scheduler);
  return sim::outcome_of(kGovernor, executor, run.jobs, machine);
}

WhatifAnswer answer_for(const WhatifRun& run, const WhatifMachine& on, Knowledge knowledge) {
  std::vector<sim::Outcome> outcomes;
  for (std::uint64_t seed = 1; seed <= kWhatifSeeds; ++seed) {
    outcomes.push_back(simulated(run, on, knowledge, seed));
  }
  std::sort(outcomes.begin(), outcomes.end(), [](const sim::Outcome& a, const sim::Outcome& b) {
    // What did not finish took longer than all that did.
    return a.finished != b.finished ? a.finished : a.makespan_s < b.makespan_s;
  });
  return {.machine = on,
          .outcome = outcomes[outcomes.size() / 2],
          .low_s = outcomes.front().makespan_s,
          .high_s = outcomes.back().makespan_s};
}

std::optional<double> error_of(const WhatifRun& run, const WhatifAnswer& replay) {
  if (!run.makespan || *run.makespan <= Duration{} || !replay.outcome.finished) return std::nullopt;
  return replay.outcome.makespan_s / to_seconds(*run.makespan) - 1;
}

Whatif replayed(const WhatifRun& run, Knowledge knowledge) {
  Whatif whatif{
      .knowledge = knowledge, .replay = answer_for(run, run.machine, knowledge), .answers = {}};
  whatif.error = error_of(run, whatif.replay);
  return whatif;
}

std::optional<Knowledge> recorded_knowledge(const WhatifRun& run) {
  if (run.known.empty()) return std::nullopt;
  const auto known = std::count(run.known.begin(), run.known.end(), true);
  if (known == 0) return Knowledge::nothing;
  return known == std::ssize(run.known) ? Knowledge::all : Knowledge::some;
}

std::string cores_words(double cores) { return fmt::format("{:g}", cores); }

std::string makespan_words(const WhatifAnswer& answer) {
  return answer.outcome.finished ? analysis::seconds_text(answer.outcome.makespan_s)
                                 : "does not finish";
}

std::string against_replay(const WhatifAnswer& answer, const WhatifAnswer& replay) {
  if (!answer.outcome.finished || !replay.outcome.finished || replay.outcome.makespan_s <= 0) {
    return "-";
  }
  return analysis::change_text(answer.outcome.makespan_s / replay.outcome.makespan_s - 1);
}

std::string knowledge_words(const WhatifRun& run, Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::nothing: return "; the governor knows nothing of these jobs.\n";
    case Knowledge::all: return "; the governor knows these jobs before.\n";
    case Knowledge::some: break;
  }
  const auto known = std::count(run.known.begin(), run.known.end(), true);
  return "; the governor knows the kinds of " + std::to_string(known) + " jobs before.\n";
}

std::string head_text(const WhatifRun& run, const Whatif& whatif) {
  std::string text =
      "Run " + report::printable(run.id) + ": " + counted(run.jobs.size(), "job", "jobs") + ", " +
      cores_words(run.machine.cores) + (run.machine.cores == 1 ? " core" : " cores") +
      ", a line of " + format_bytes(run.machine.line) +
      (run.makespan ? "; it took " + format_duration(*run.makespan) : "") + ".\n";
  text += "Its replay there: " + makespan_words(whatif.replay);
  if (whatif.error) text += ", which is off by " + analysis::change_text(*whatif.error);
  return text + knowledge_words(run, whatif.knowledge);
}

report::Json answer_json(const WhatifAnswer& answer) {
  report::Json json = report::Json::object();
  json["cores"] = answer.machine.cores;
  json["line_bytes"] = answer.machine.line.count;
  sim::put_members(answer.outcome, {"finished", "makespan_s"}, json);
  json["makespan_low_s"] = answer.low_s;
  json["makespan_high_s"] = answer.high_s;
  sim::put_members(answer.outcome,
                   {"lower_bound_s", "pauses", "evictions", "oom_kills", "used_peak_mb",
                    "cpu_utilisation", "memory_utilisation"},
                   json);
  return json;
}

}  // namespace

std::string_view name_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::nothing: return "nothing";
    case Knowledge::some: return "some";
    case Knowledge::all: break;
  }
  return "all";
}

Whatif what_if(const WhatifRun& run, const std::vector<WhatifMachine>& machines) {
  const auto known = run.knowledge ? run.knowledge : recorded_knowledge(run);
  Whatif whatif = replayed(run, known.value_or(Knowledge::nothing));
  if (!known) {
    Whatif knowing = replayed(run, Knowledge::all);
    const bool is_nearer =
        knowing.error && (!whatif.error || std::fabs(*knowing.error) < std::fabs(*whatif.error));
    if (is_nearer) whatif = std::move(knowing);
  }
  for (const WhatifMachine& machine : machines) {
    whatif.answers.push_back(answer_for(run, machine, whatif.knowledge));
  }
  return whatif;
}

std::string whatif_text(const WhatifRun& run, const Whatif& whatif, std::size_t width) {
  using report::Align;
  std::vector<report::Column> columns = {{.heading = "CORES", .cells = {}},
                                         {.heading = "LINE", .cells = {}},
                                         {.heading = "MAKESPAN", .cells = {}},
                                         {.heading = "AGAINST REPLAY", .cells = {}},
                                         {.heading = "LOWER BOUND", .cells = {}},
                                         {.heading = "PAUSES", .cells = {}},
                                         {.heading = "EVICTIONS", .cells = {}},
                                         {.heading = "RANGE", .align = Align::left, .cells = {}}};
  for (const WhatifAnswer& answer : whatif.answers) {
    columns[0].cells.push_back(cores_words(answer.machine.cores));
    columns[1].cells.push_back(format_bytes(answer.machine.line));
    columns[2].cells.push_back(makespan_words(answer));
    columns[3].cells.push_back(against_replay(answer, whatif.replay));
    columns[4].cells.push_back(analysis::seconds_text(answer.outcome.lower_bound_s));
    columns[5].cells.push_back(std::to_string(answer.outcome.pauses));
    columns[6].cells.push_back(std::to_string(answer.outcome.evictions));
    columns[7].cells.push_back(answer.outcome.finished
                                   ? analysis::seconds_text(answer.low_s) + " to " +
                                         analysis::seconds_text(answer.high_s)
                                   : "-");
  }
  return head_text(run, whatif) + "\n" + report::table_text(columns, width);
}

std::string whatif_json(const WhatifRun& run, const Whatif& whatif) {
  using report::Json;
  Json json = Json::object();
  json["schema"] = "plimsoll.whatif/1";
  json["run"] = run.id;
  json["jobs"] = run.jobs.size();
  if (run.makespan) json["makespan_s"] = to_seconds(*run.makespan);
  json["other_load"] = run.other_load;
  json["knowledge"] = name_of(whatif.knowledge);
  json["replay"] = answer_json(whatif.replay);
  if (whatif.error) json["replay"]["error_share"] = *whatif.error;
  json["answers"] = Json::array();
  for (const WhatifAnswer& answer : whatif.answers) {
    json["answers"].push_back(answer_json(answer));
  }
  return report::text_of(json, report::JsonForm::pretty);
}

}  // namespace plimsoll::cli
