#include "page/document.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "page/columns.h"
#include "page/drawing.h"
#include "page/palette.h"
#include "policy/job/event.h"
#include "policy/job/job.h"
#include "report/json_put.h"
#include "report/json_read.h"
#include "report/numbers.h"
#include "report/thinned.h"
#include "store/runs/explain.h"
#include "store/runs/human.h"

namespace plimsoll::page {
namespace {

using report::put;
using report::put_text;

// What thinned() must know of the points: a peak of memory must not vanish.
struct CurveTraits {
  static Duration time_of(const CurvePoint& point) { return point.t; }
  static auto gauges(const CurvePoint& point) { return std::tuple(point.used); }
};
struct SystemTraits {
  static Duration time_of(const SystemPoint& point) { return point.t; }
  static auto gauges(const SystemPoint& point) { return std::tuple(point.busy); }
};

template <class Traits, class Point>
std::vector<const Point*> thinned(const std::vector<Point>& points, std::size_t most) {
  std::vector<const Point*> all;
  all.reserve(points.size());
  for (const Point& point : points) all.push_back(&point);
  return report::thinned<Traits>(all, most);
}

// Writes a record in one unit of time.
class Writer {
 public:
  explicit Writer(const Record& record)
      : record_(record), drawing_(drawing_of(record)), ticks_(drawing_.end) {}

  [[nodiscard]] Json document();

 private:
  [[nodiscard]] Json run() const;
  [[nodiscard]] Json jobs();
  [[nodiscard]] Json attempts();
  [[nodiscard]] Json curves() const;
  [[nodiscard]] Json events();
  [[nodiscard]] Json system() const;
  [[nodiscard]] Json numbers();
  [[nodiscard]] Json pauses() const;
  [[nodiscard]] Json colours();

  [[nodiscard]] std::optional<std::int64_t> time(std::optional<Duration> duration) const {
    if (!duration) return std::nullopt;
    return ticks_.of(*duration);
  }
  [[nodiscard]] static std::optional<std::int64_t> memory(std::optional<Bytes> bytes) {
    if (!bytes) return std::nullopt;
    return kibibytes(*bytes);
  }

  const Record& record_;
  const Drawing drawing_;
  const Ticks ticks_;
  TextTable classes_, outcomes_, frames_, names_, name_lists_;
};

Json Writer::run() const {
  const report::RunEntry& entry = record_.entry;
  Json run = Json::object();
  run["id"] = entry.id;
  run["state"] = report::name_of(entry.state);
  run["command"] = policy::command_line(entry.meta.command_line);
  run["started"] = report::wall_text(entry.meta.started);
  put(run, "started_unix_ns", entry.meta.started);
  const bool is_governed = entry.meta.kind == report::RunKind::governed;
  const std::uint64_t known = is_governed ? record_.jobs.size() : entry.meta.jobs;
  run["jobs"] = entry.figures ? entry.figures->jobs : known;
  put(run, "end_ns", drawing_.end);
  const auto line = entry.figures && entry.figures->line ? entry.figures->line : entry.meta.line;
  put(run, "line_bytes", line);
  if (entry.meta.cores) run["cores"] = *entry.meta.cores;
  if (record_.cores_of_others) run["cores_of_others"] = *record_.cores_of_others;
  if (record_.cores_of_machine) run["cores_of_machine"] = *record_.cores_of_machine;
  put(run, "oom_kills", record_.oom_kills);
  put(run, "cpu_usage_ns", record_.cpu_usage);
  if (const auto& figures = entry.figures) {
    put(run, "makespan_ns", figures->makespan);
    run["outcomes_text"] = report::outcomes_text(*figures);
    run["holds"] = figures->holds;
    run["pauses"] = figures->pauses;
    run["evictions"] = figures->evictions;
    put(run, "succeeded", figures->succeeded);
    put(run, "lost_cpu_ns", figures->lost_cpu);
    put(run, "used_peak_bytes", figures->used_peak);
  }
  if (const auto& host = record_.host) {
    Json& json = run["host"] = Json::object();
    put_text(json, "name", host->name);
    put_text(json, "kernel", host->kernel);
    put_text(json, "hierarchy", host->hierarchy);
    put(json, "cpus", host->cpus);
    put(json, "memory_bytes", host->memory);
  }
  const report::LeftOut& left = entry.meta.left_out;
  const std::uint64_t left_out = left.unstarted + left.beyond + left.late + left.unwritten;
  if (left_out > 0) run["left_out"] = left_out;
  return run;
}

Json Writer::jobs() {
  Json ids = Json::array(), commands = Json::array(), reasons = Json::array();
  Json classes = Json::array(), outcomes = Json::array(), statuses = Json::array();
  Json outs = Json::array(), errs = Json::array();
  DeltaColumn numbers, held, paused, limits;
  for (const Job& job : record_.jobs) {
    const bool same = job.number && std::to_string(*job.number) == job.id;
    ids.push_back(same ? Json() : Json(job.id));
    numbers.add(job.number);
    classes.push_back(classes_.place_of(job.job_class));
    commands.push_back(job.command);
    outs.push_back(job.out);
    errs.push_back(job.err);
    outcomes.push_back(outcomes_.place_of(job.outcome));
    statuses.push_back(job.exit_code        ? Json(*job.exit_code)
                       : job.signal.empty() ? Json()
                                            : Json(job.signal));
    reasons.push_back(job.reason);
    held.add(time(job.held));
    paused.add(time(job.paused));
    limits.add(memory(job.limit));
  }
  return {{"id", std::move(ids)},           {"number", numbers.take()},
          {"class", std::move(classes)},    {"command", std::move(commands)},
          {"stdout", std::move(outs)},      {"stderr", std::move(errs)},
          {"outcome", std::move(outcomes)}, {"status", std::move(statuses)},
          {"reason", std::move(reasons)},   {"held", held.take()},
          {"paused", paused.take()},        {"limit", limits.take()}};
}

// By their start, as they are drawn.
Json Writer::attempts() {
  DeltaColumn jobs, indices, starts, walls, cpu, peaks, lanes;
  Json outcomes = Json::array(), bad = Json::array();
  for (const DrawnAttempt& drawn : drawing_.attempts) {
    const Attempt& attempt = record_.jobs[drawn.job].attempts[drawn.index];
    jobs.add(static_cast<std::int64_t>(drawn.job));
    indices.add(static_cast<std::int64_t>(drawn.index));
    outcomes.push_back(outcomes_.place_of(attempt.outcome));
    starts.add(ticks_.of(attempt.start));
    walls.add(time(attempt.wall));
    cpu.add(time(attempt.cpu));
    peaks.add(memory(attempt.peak));
    lanes.add(static_cast<std::int64_t>(drawn.lane));
    bad.push_back(drawn.is_bad ? 1 : 0);
  }
  return {{"job", jobs.take()},     {"index", indices.take()}, {"outcome", std::move(outcomes)},
          {"start", starts.take()}, {"wall", walls.take()},    {"cpu", cpu.take()},
          {"peak", peaks.take()},   {"lane", lanes.take()},    {"bad", std::move(bad)}};
}

Json Writer::pauses() const {
  DeltaColumn attempts, starts, ends, events;
  for (std::size_t i = 0; i < drawing_.attempts.size(); ++i) {
    for (const DrawnPause& pause : drawing_.attempts[i].pauses) {
      attempts.add(static_cast<std::int64_t>(i));
      starts.add(ticks_.of(pause.start));
      ends.add(ticks_.of(pause.end));
      events.add(static_cast<std::int64_t>(pause.event));
    }
  }
  return {{"attempt", attempts.take()},
          {"start", starts.take()},
          {"end", ends.take()},
          {"event", events.take()}};
}

// Classes with a colour of their own, heaviest first. The colours are there beyond them: with a
// second run come other classes.
Json Writer::colours() {
  Json classes = Json::array(), colours = Json::array();
  for (std::size_t place = 0; place < kClassColours.size(); ++place) {
    colours.push_back(colour_of(place));
    if (place < drawing_.classes.size()) {
      classes.push_back(classes_.place_of(drawing_.classes[place]));
    }
  }
  return {
      {"classes", std::move(classes)}, {"colours", std::move(colours)}, {"others", kOtherColour}};
}

Json Writer::curves() const {
  const std::size_t share = kCurvePointsMax / std::max<std::size_t>(record_.jobs.size(), 1);
  const std::size_t most = std::clamp(share, kCurvePointsOfJobMin, kCurvePointsOfJobMax);
  DeltaColumn times, used, cpu;
  Json counts = Json::array();  // for each job
  for (const Job& job : record_.jobs) {
    const auto points = thinned<CurveTraits>(job.curve, most);
    counts.push_back(points.size());
    for (const CurvePoint* point : points) {
      times.add(ticks_.of(point->t));
      used.add(memory(point->used));
      cpu.add(time(point->cpu));
    }
  }
  return {{"points", std::move(counts)},
          {"t", times.take()},
          {"used", used.take()},
          {"cpu", cpu.take()}};
}

Json Writer::events() {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < record_.jobs.size(); ++i) places.emplace(record_.jobs[i].id, i);
  DeltaColumn times, jobs;
  Json kinds = Json::array(), frames = Json::array(), lists = Json::array();
  std::string words, values;
  for (const report::RecordedEvent& event : record_.events) {
    times.add(ticks_.of(event.t));
    kinds.push_back(static_cast<int>(event.kind));
    const auto place = places.find(event.job);
    jobs.add(place == places.end() ? std::nullopt
                                   : std::optional(static_cast<std::int64_t>(place->second)));
    const Sentence sentence = sentence_of(event.reason);
    frames.push_back(frames_.place_of(sentence.frame));
    for (const std::string& number : sentence.numbers) (words += number) += ' ';
    std::string list;
    for (const auto& [name, value] : event.numbers) {
      (list += list.empty() ? "" : " ") += std::to_string(names_.place_of(name));
      (values += rounded(value)) += ' ';
    }
    lists.push_back(name_lists_.place_of(list));
  }
  return {{"t", times.take()},          {"kind", std::move(kinds)},  {"job", jobs.take()},
          {"frame", std::move(frames)}, {"words", std::move(words)}, {"list", std::move(lists)},
          {"values", std::move(values)}};
}

// What the numbers of the events mean, by their places in `names`.
Json Writer::numbers() {
  Json all = Json::array();
  for (const Json& name : names_.take()) {
    const std::string text = name.get<std::string>();
    Json one = {{"name", text}, {"label", report::number_label(text)}};
    put_text(one, "meaning", report::number_meaning(text));
    all.push_back(std::move(one));
  }
  return all;
}

Json Writer::system() const {
  DeltaColumn times, busy, idle, cpu, memory_stall, io;
  for (const SystemPoint* point : thinned<SystemTraits>(record_.system, kSystemPointsMax)) {
    times.add(ticks_.of(point->t));
    busy.add(time(point->busy));
    idle.add(time(point->idle));
    cpu.add(time(point->cpu_stall));
    memory_stall.add(time(point->memory_stall));
    io.add(time(point->io_stall));
  }
  return {{"t", times.take()},     {"busy", busy.take()},
          {"idle", idle.take()},   {"cpu_stall", cpu.take()},
          {"io_stall", io.take()}, {"memory_stall", memory_stall.take()}};
}

Json Writer::document() {
  Json document = Json::object();
  document["tick_ns"] = ticks_.length().count();
  document["run"] = run();
  document["jobs"] = jobs();
  document["attempts"] = attempts();
  document["lanes"] = drawing_.lanes;
  document["pauses"] = pauses();
  document["colours"] = colours();
  document["curves"] = curves();
  document["events"] = events();
  document["system"] = system();
  document["classes"] = classes_.take();
  document["outcomes"] = outcomes_.take();
  document["frames"] = frames_.take();
  document["lists"] = name_lists_.take();
  document["numbers"] = numbers();
  Json kinds = Json::array();
  for (std::size_t i = 0; i < policy::kEventKinds; ++i) {
    kinds.push_back(policy::name_of(static_cast<policy::EventKind>(i)));
  }
  document["kinds"] = std::move(kinds);
  return document;
}

// As the member `name`, a document `plimsoll.NAME/1`, if there is one.
void put_document(Json& object, const std::string& name, const std::string& text) {
  const std::string schema = "plimsoll." + name + "/1";
  if (auto document = report::parse_document(text, schema.c_str())) {
    object[name] = std::move(*document);
  }
}

}  // namespace

std::string document_of(const Contents& contents) {
  Json document = {{"schema", "plimsoll.page/1"}};
  Json& runs = document["runs"] = Json::array();
  for (const ShownRun& shown : contents.runs) {
    Json run = Writer(shown.record).document();
    put_document(run, "advice", shown.advice);
    put_document(run, "whatif", shown.whatif);
    runs.push_back(std::move(run));
  }
  put_document(document, "comparison", contents.comparison);
  return report::text_of(document, report::JsonForm::line);
}

}  // namespace plimsoll::page
