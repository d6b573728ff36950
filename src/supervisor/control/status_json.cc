#include "supervisor/control/status_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace plimsoll::supervisor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<policy::JobState, const char*>, 3> kStates = {
    {{policy::JobState::running, "running"},
     {policy::JobState::frozen, "paused"},
     {policy::JobState::waiting, "waiting"}}};

constexpr std::array<std::pair<policy::PauseCause, const char*>, 4> kPauseCauses = {
    {{policy::PauseCause::memory, "memory"},
     {policy::PauseCause::cores, "cores"},
     {policy::PauseCause::space, "disk-space"},
     {policy::PauseCause::user, "user"}}};

Json state_json(policy::JobState state) {
  for (const auto& [known, name] : kStates) {
    if (known == state) return name;
  }
  return nullptr;
}

Json cause_json(policy::PauseCause cause) {
  for (const auto& [known, name] : kPauseCauses) {
    if (known == cause) return name;
  }
  return nullptr;
}

Json job_json(const RunningJob& job) {
  Json json = {{"number", static_cast<std::uint64_t>(job.job)},
               {"job", job.name},
               {"command", job.command},
               {"distinct", job.distinct},
               {"state", state_json(job.state)},
               {"attempt", job.attempt},
               {"ran_ns", job.ran.count()},
               {"paused_ns", job.frozen.count()}};
  if (job.used) json["used_bytes"] = job.used->count;
  if (job.cores) json["cores"] = *job.cores;
  if (job.estimate > Bytes{}) json["estimate_bytes"] = job.estimate.count;
  if (job.remaining) json["remaining_ns"] = job.remaining->count();
  if (job.growth) json["growth_bytes_per_second"] = std::llround(*job.growth);
  if (job.io) json["io_bytes"] = job.io->count;
  if (job.paused_for) json["paused_for"] = cause_json(*job.paused_for);
  if (!job.reason.empty()) json["reason"] = job.reason;
  return json;
}

Json holding_json(const HoldingStatus& holding) {
  Json numbers = Json::object();
  for (const auto& [key, value] : holding.numbers) numbers[key] = value;
  return {{"number", static_cast<std::uint64_t>(holding.job)},
          {"job", holding.name},
          {"reason", holding.reason},
          {"numbers", std::move(numbers)}};
}

Json others_json(const Others& others) {
  return {{"runs", others.runs},
          {"jobs", others.jobs},
          {"used_bytes", others.used.count},
          {"claimed_bytes", others.claimed.count},
          {"cores_used", others.cores_used}};
}

Json loop_json(const LoopStatus& loop) {
  return {{"lag_p50_ns", loop.lag.p50.count()},
          {"lag_p99_ns", loop.lag.p99.count()},
          {"lag_max_ns", loop.lag.max.count()},
          {"turn_max_ns", loop.longest_turn.count()}};
}

Json stall_json(const policy::StallShares& stall) {
  Json json = Json::object();
  if (stall.cpu_some) json["cpu_some"] = *stall.cpu_some;
  if (stall.memory_full) json["memory_full"] = *stall.memory_full;
  if (stall.io_full) json["io_full"] = *stall.io_full;
  return json;
}

// Reads members of an object, if it is one.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  [[nodiscard]] const Json* find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  void get(const char* key, std::string& value) const {
    if (const Json* json = find(key); json && json->is_string()) value = *json;
  }
  void get(const char* key, double& value) const {
    if (const Json* json = find(key); json && json->is_number()) value = json->get<double>();
  }
  template <class Count>
  void count(const char* key, Count& value) const {
    const Json* json = find(key);
    if (json && json->is_number_unsigned()) {
      value = static_cast<Count>(json->get<std::uint64_t>());
    }
  }
  void get(const char* key, Bytes& value) const { count(key, value.count); }
  void get(const char* key, JobId& value) const { count(key, value); }
  void get(const char* key, Duration& value) const {
    std::uint64_t ns = 0;
    count(key, ns);
    if (ns <= static_cast<std::uint64_t>(Duration::max().count())) {
      value = Duration(static_cast<Duration::rep>(ns));
    }
  }
  template <class T>
  void get(const char* key, std::optional<T>& value) const {
    const Json* json = find(key);
    if (!json || !json->is_number()) return;
    T known{};
    get(key, known);
    value = known;
  }

 private:
  const Json& json_;
};

RunningJob job_of(const Json& json) {
  const Reader reader(json);
  RunningJob job;
  reader.get("number", job.job);
  reader.get("job", job.name);
  reader.get("command", job.command);
  reader.get("distinct", job.distinct);
  if (const Json* state = reader.find("state")) {
    for (const auto& [known, name] : kStates) {
      if (*state == name) job.state = known;
    }
  }
  reader.count("attempt", job.attempt);
  reader.get("ran_ns", job.ran);
  reader.get("paused_ns", job.frozen);
  reader.get("used_bytes", job.used);
  reader.get("cores", job.cores);
  reader.get("estimate_bytes", job.estimate);
  reader.get("remaining_ns", job.remaining);
  reader.get("growth_bytes_per_second", job.growth);
  reader.get("io_bytes", job.io);
  if (const Json* cause = reader.find("paused_for")) {
    for (const auto& [known, name] : kPauseCauses) {
      if (*cause == name) job.paused_for = known;
    }
  }
  reader.get("reason", job.reason);
  return job;
}

HoldingStatus holding_of(const Json& json) {
  const Reader reader(json);
  HoldingStatus holding;
  reader.get("number", holding.job);
  reader.get("job", holding.name);
  reader.get("reason", holding.reason);
  const Json* numbers = reader.find("numbers");
  if (!numbers || !numbers->is_object()) return holding;
  for (const auto& [key, value] : numbers->items()) {
    if (value.is_number()) holding.numbers.emplace_back(key, value.get<double>());
  }
  return holding;
}

Others others_of(const Json& json) {
  const Reader reader(json);
  Others others;
  reader.count("runs", others.runs);
  reader.count("jobs", others.jobs);
  reader.get("used_bytes", others.used);
  reader.get("claimed_bytes", others.claimed);
  reader.get("cores_used", others.cores_used);
  return others;
}

LoopStatus loop_of(const Json& json) {
  const Reader reader(json);
  LoopStatus loop;
  reader.get("lag_p50_ns", loop.lag.p50);
  reader.get("lag_p99_ns", loop.lag.p99);
  reader.get("lag_max_ns", loop.lag.max);
  reader.get("turn_max_ns", loop.longest_turn);
  return loop;
}

policy::StallShares stall_of(const Json& json) {
  const Reader reader(json);
  policy::StallShares stall;
  reader.get("cpu_some", stall.cpu_some);
  reader.get("memory_full", stall.memory_full);
  reader.get("io_full", stall.io_full);
  return stall;
}

JobCounts counts_of(const Json& json) {
  const Reader reader(json);
  JobCounts jobs;
  reader.count("total", jobs.total);
  reader.count("succeeded", jobs.succeeded);
  reader.count("failed", jobs.failed);
  reader.count("skipped", jobs.skipped);
  reader.count("running", jobs.running);
  reader.count("paused", jobs.paused);
  reader.count("waiting", jobs.waiting);
  return jobs;
}

}  // namespace

Json to_json(const RunStatus& status) {
  const JobCounts& jobs = status.jobs;
  Json json = {{"run", status.run},
               {"elapsed_ns", status.elapsed.count()},
               {"jobs",
                {{"total", jobs.total},
                 {"succeeded", jobs.succeeded},
                 {"failed", jobs.failed},
                 {"skipped", jobs.skipped},
                 {"running", jobs.running},
                 {"paused", jobs.paused},
                 {"waiting", jobs.waiting}}}};
  if (status.line > Bytes{}) json["line_bytes"] = status.line.count;
  json["used_bytes"] = status.used.count;
  if (status.estimate) json["estimate_bytes"] = status.estimate->count;
  json["used_peak_bytes"] = status.counts.used_peak.count;
  json["cores"] = status.cores;
  json["cores_used"] = status.cores_used;
  if (status.cores_wanted) json["cores_wanted"] = *status.cores_wanted;
  if (status.cores_of_others) json["cores_of_others"] = *status.cores_of_others;
  if (Json stall = stall_json(status.stall); !stall.empty()) json["stall"] = std::move(stall);
  json["jobs_max"] = status.jobs_max;
  json["holds"] = status.counts.holds;
  json["pauses"] = status.counts.pauses;
  json["evictions"] = status.counts.evictions;
  json["reclaims"] = status.counts.reclaims;
  json["lost_cpu_ns"] = status.counts.lost_cpu.count();
  if (status.holding) json["holding"] = holding_json(*status.holding);
  if (status.remaining) json["remaining_ns"] = status.remaining->count();
  if (status.others) json["others"] = others_json(*status.others);
  if (status.loop) json["loop"] = loop_json(*status.loop);
  Json running = Json::array();
  for (const RunningJob& job : status.running) running.push_back(job_json(job));
  json["running"] = std::move(running);
  return json;
}

RunStatus status_of(const Json& json) {
  const Reader reader(json);
  RunStatus status;
  reader.get("run", status.run);
  reader.get("elapsed_ns", status.elapsed);
  if (const Json* jobs = reader.find("jobs")) status.jobs = counts_of(*jobs);
  reader.get("line_bytes", status.line);
  reader.get("used_bytes", status.used);
  reader.get("used_peak_bytes", status.counts.used_peak);
  reader.get("estimate_bytes", status.estimate);
  reader.get("cores", status.cores);
  reader.get("cores_used", status.cores_used);
  reader.get("cores_of_others", status.cores_of_others);
  reader.get("cores_wanted", status.cores_wanted);
  if (const Json* stall = reader.find("stall")) status.stall = stall_of(*stall);
  reader.count("jobs_max", status.jobs_max);
  reader.count("holds", status.counts.holds);
  reader.count("pauses", status.counts.pauses);
  reader.count("evictions", status.counts.evictions);
  reader.count("reclaims", status.counts.reclaims);
  reader.get("lost_cpu_ns", status.counts.lost_cpu);
  reader.get("remaining_ns", status.remaining);
  if (const Json* holding = reader.find("holding")) status.holding = holding_of(*holding);
  if (const Json* others = reader.find("others")) status.others = others_of(*others);
  if (const Json* loop = reader.find("loop")) status.loop = loop_of(*loop);
  if (const Json* running = reader.find("running"); running && running->is_array()) {
    for (const Json& job : *running) status.running.push_back(job_of(job));
  }
  return status;
}

}  // namespace plimsoll::supervisor
