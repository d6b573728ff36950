#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "analysis/trace/formats.h"
#include "report/json_text.h"

namespace plimsoll::analysis {
namespace {

using report::Json;

constexpr int kChromePid = 1;  // of no process: a name for the group of all lanes

double microseconds(Duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// One event, with what all have.
Json chrome_event(const char* phase, std::size_t tid, Duration at) {
  Json json = Json::object();
  json["ph"] = phase;
  json["pid"] = kChromePid;
  json["tid"] = tid;
  json["ts"] = microseconds(at);
  return json;
}

Json named(const char* what, std::size_t tid, const std::string& name) {
  Json json = chrome_event("M", tid, {});
  json["name"] = what;
  json["args"]["name"] = name;
  return json;
}

Json arrow(const char* phase, std::size_t tid, Duration at, std::uint64_t id) {
  Json json = chrome_event(phase, tid, at);
  json["name"] = "admits";
  json["cat"] = "admits";
  json["id"] = id;
  return json;
}

void add_slice(Json& events, std::size_t tid, const TraceSlice& slice) {
  const bool is_moment = slice.kind == TraceSlice::Kind::moment;
  Json json = chrome_event(is_moment ? "i" : "X", tid, slice.from);
  json["name"] = slice.name;
  json["cat"] = slice.category;
  if (is_moment) {
    json["s"] = "t";  // of its lane
  } else {
    json["dur"] = microseconds(slice.to - slice.from);
  }
  for (const auto& [name, text] : slice.notes) json["args"][name] = text;
  events.push_back(std::move(json));
  // An arrow belongs to the slice around its moment, which the end no longer is.
  const Duration within = std::max(slice.from, slice.to - std::chrono::microseconds(1));
  for (const std::uint64_t id : slice.arrows_out) events.push_back(arrow("s", tid, within, id));
  for (const std::uint64_t id : slice.arrows_in) {
    Json end = arrow("f", tid, slice.from, id);
    end["bp"] = "e";
    events.push_back(std::move(end));
  }
}

}  // namespace

std::string chrome_trace(const Trace& trace) {
  Json events = Json::array();
  events.push_back(named("process_name", 0, trace.name));
  for (const TraceCounter& counter : trace.counters) {
    for (const auto& [at, value] : counter.points) {
      Json json = chrome_event("C", 0, at);
      json["name"] = counter.name;
      json["args"]["value"] = value;
      events.push_back(std::move(json));
    }
  }
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const std::size_t tid = i + 1;
    events.push_back(named("thread_name", tid, trace.lanes[i].name));
    Json order = chrome_event("M", tid, {});
    order["name"] = "thread_sort_index";
    order["args"]["sort_index"] = tid;
    events.push_back(std::move(order));
    for (const TraceSlice& slice : trace.lanes[i].slices) add_slice(events, tid, slice);
  }
  Json json = Json::object();
  json["displayTimeUnit"] = "ms";
  json["traceEvents"] = std::move(events);
  return report::text_of(json, report::JsonForm::line);
}

}  // namespace plimsoll::analysis
