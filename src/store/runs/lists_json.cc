#include <nlohmann/json.hpp>

#include "report/json_text.h"
#include "store/runs/lists.h"

namespace plimsoll::report {
namespace {

std::int64_t unix_ns(WallTime time) { return time.time_since_epoch().count(); }

Json run_json(const RunEntry& run) {
  Json json = Json::object();
  json["run"] = run.id;
  json["path"] = run.path;
  json["state"] = name_of(run.state);
  json["started_unix_ns"] = unix_ns(run.meta.started);
  json["command_line"] = run.meta.command_line;
  json["jobs"] = run.figures ? run.figures->jobs : run.meta.jobs;
  if (run.meta.line) json["line_bytes"] = run.meta.line->count;
  if (run.meta.cores) json["cores"] = *run.meta.cores;
  if (!run.figures) return json;
  const RunFigures& figures = *run.figures;
  if (figures.makespan) json["makespan_ns"] = figures.makespan->count();
  json["outcomes"] = figures.outcomes;
  if (figures.succeeded) json["succeeded"] = *figures.succeeded;
  json["holds"] = figures.holds;
  json["pauses"] = figures.pauses;
  json["evictions"] = figures.evictions;
  if (figures.lost_cpu) json["lost_cpu_ns"] = figures.lost_cpu->count();
  if (figures.line) json["line_bytes"] = figures.line->count;
  if (figures.used_peak) json["used_peak_bytes"] = figures.used_peak->count;
  return json;
}

template <class T, class Number>
Json quantiles_json(const history::Quantiles<T>& quantiles, Number number) {
  Json json = Json::object();
  json["p50"] = number(quantiles.p50);
  json["p90"] = number(quantiles.p90);
  json["max"] = number(quantiles.max);
  return json;
}

Json class_json(const history::ClassSummary& summary) {
  Json json = Json::object();
  json["class"] = summary.key.exact;
  if (!summary.key.tool.empty()) json["tool"] = summary.key.tool;
  if (summary.key.owner) json["uid"] = *summary.key.owner;
  json["count"] = summary.count;
  json["at_least"] = summary.at_least;
  json["peak_bytes"] = quantiles_json(summary.peak, [](Bytes bytes) { return bytes.count; });
  json["ran_ns"] = quantiles_json(summary.ran, [](Duration time) { return time.count(); });
  if (summary.cores) {
    json["cores"] = quantiles_json(*summary.cores, [](double cores) { return cores; });
  }
  json["last_unix_ns"] = unix_ns(summary.last);
  return json;
}

}  // namespace

std::string to_json(const std::vector<RunEntry>& runs, JsonForm form) {
  Json json = Json::object();
  json["schema"] = "plimsoll.runs/1";
  json["runs"] = Json::array();
  for (const RunEntry& run : runs) json["runs"].push_back(run_json(run));
  return text_of(json, form);
}

std::string to_json(const std::vector<history::ClassSummary>& classes, JsonForm form) {
  Json json = Json::object();
  json["schema"] = "plimsoll.history/1";
  json["classes"] = Json::array();
  for (const auto& summary : classes) json["classes"].push_back(class_json(summary));
  return text_of(json, form);
}

}  // namespace plimsoll::report
