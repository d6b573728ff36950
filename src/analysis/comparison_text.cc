#include "analysis/comparison_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/words.h"
#include "base/quantity.h"
#include "base/text.h"
#include "report/json_text.h"
#include "report/plain.h"
#include "report/table.h"

namespace plimsoll::analysis {
namespace {

using report::Align;
using report::Json;

std::string value_text(Metric metric, double value) {
  return metric == Metric::peak ? format_bytes(to_bytes(value)) : seconds_text(value);
}

std::string figure_text(const std::string& name, const std::optional<double>& value) {
  if (!value) return "-";
  if (name == "used") return format_bytes(to_bytes(*value));
  return name == "makespan" || name == "lost" ? seconds_text(*value) : fmt::format("{:g}", *value);
}

std::string figure_change(const RunFigure& figure) {
  if (!figure.before || !figure.after || *figure.before <= 0) return "-";
  return change_text(*figure.after / *figure.before - 1);
}

std::string run_table(const Comparison& comparison, std::size_t width) {
  std::vector<report::Column> columns = {{.heading = "RUN", .align = Align::left, .cells = {}},
                                         {.heading = "A", .cells = {}},
                                         {.heading = "B", .cells = {}},
                                         {.heading = "CHANGE", .align = Align::left, .cells = {}}};
  for (const RunFigure& figure : comparison.run) {
    if (!figure.before && !figure.after) continue;
    columns[0].cells.push_back(figure.name);
    columns[1].cells.push_back(figure_text(figure.name, figure.before));
    columns[2].cells.push_back(figure_text(figure.name, figure.after));
    columns[3].cells.push_back(figure_change(figure));
  }
  return columns[0].cells.empty() ? "" : report::table_text(columns, width) + "\n";
}

std::string range_text(const Change& change) {
  if (!change.range) return "-";
  return change_text(share_of_change(change.range->first)) + " to " +
         change_text(share_of_change(change.range->second));
}

// Rows of a table as they are found.
class Rows {
 public:
  void add(const std::string& name, const MetricChange& change) {
    columns_[0].cells.emplace_back(name_of(change.metric));
    columns_[1].cells.push_back(value_text(change.metric, change.before));
    columns_[2].cells.push_back(value_text(change.metric, change.after));
    columns_[3].cells.push_back(change_text(share_of_change(change.change.log_ratio)));
    columns_[4].cells.push_back(range_text(change.change));
    columns_[5].cells.push_back(fmt::format("{:.2g}", change.adjusted_p));
    columns_[6].cells.push_back(std::to_string(change.change.count));
    columns_[7].cells.push_back(name);
  }
  [[nodiscard]] bool empty() const { return columns_[0].cells.empty(); }
  [[nodiscard]] std::string text(std::size_t width) const {
    return report::table_text(columns_, width);
  }

 private:
  std::vector<report::Column> columns_ = {{.heading = "FIGURE", .align = Align::left, .cells = {}},
                                          {.heading = "A", .cells = {}},
                                          {.heading = "B", .cells = {}},
                                          {.heading = "CHANGE", .cells = {}},
                                          {.heading = "95 % RANGE", .cells = {}},
                                          {.heading = "P", .cells = {}},
                                          {.heading = "JOBS", .cells = {}},
                                          {.heading = "CLASS", .align = Align::left, .cells = {}}};
};

std::string names_text(const char* label, const std::vector<std::string>& names,
                       std::size_t width) {
  std::vector<std::string> printable;
  for (const std::string& name : names) printable.push_back(report::printable(name));
  return report::labelled_text(label, printable, width);
}

Json change_json(const MetricChange& change) {
  Json json = Json::object();
  const std::string unit = change.metric == Metric::peak ? "_bytes" : "_s";
  json["before_median" + unit] = change.before;
  json["after_median" + unit] = change.after;
  json["change_share"] = share_of_change(change.change.log_ratio);
  if (change.change.range) {
    json["change_share_low"] = share_of_change(change.change.range->first);
    json["change_share_high"] = share_of_change(change.change.range->second);
  }
  json["design"] = change.design == Design::paired ? "paired" : "unpaired";
  json["count"] = change.change.count;
  json["p"] = change.change.p;
  json["adjusted_p"] = change.adjusted_p;
  json["beyond_noise"] = change.is_beyond_noise();
  return json;
}

Json class_json(const ClassComparison& compared) {
  Json json = Json::object();
  if (!compared.name.empty()) json["class"] = compared.name;
  json["before_jobs"] = compared.jobs_before;
  json["after_jobs"] = compared.jobs_after;
  for (const MetricChange& change : compared.changes) {
    json[std::string(name_of(change.metric))] = change_json(change);
  }
  return json;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const ComparisonStyle& style) {
  std::string text = "A: run " + report::printable(comparison.before) + "\nB: run " +
                     report::printable(comparison.after) + "\n\n" +
                     run_table(comparison, style.width);
  Rows rows;
  std::size_t untold = 0, without_range = 0;
  const auto add_of = [&](const ClassComparison& compared, const std::string& name) {
    for (const MetricChange& change : compared.changes) {
      if (!change.change.range) ++without_range;
      if (change.is_beyond_noise() || style.listed == Listed::all) {
        rows.add(name, change);
      } else {
        ++untold;
      }
    }
  };
  add_of(comparison.all, "(all jobs that are in both)");
  for (const ClassComparison& compared : comparison.classes) {
    add_of(compared, report::printable(compared.name));
  }
  if (style.listed == Listed::beyond_noise) {
    text += rows.empty() ? "No figure of a class has changed beyond noise.\n"
                         : "Changed beyond noise:\n";
  }
  if (!rows.empty()) text += rows.text(style.width);
  if (untold > 0) {
    text += counted(untold, "figure", "figures") +
            " of classes with no change beyond noise; --all lists all.\n";
  }
  if (without_range > 0) {
    text += counted(without_range, "figure rests", "figures rest") +
            " on too few jobs to tell a change from noise.\n";
  }
  return text + names_text("only in A ", comparison.only_before, style.width) +
         names_text("only in B ", comparison.only_after, style.width);
}

std::string comparison_json(const Comparison& comparison,
                            const std::vector<std::string>& breaches) {
  Json json = Json::object();
  json["schema"] = "plimsoll.comparison/1";
  json["before"] = comparison.before;
  json["after"] = comparison.after;
  Json& run = json["run"] = Json::object();
  for (const RunFigure& figure : comparison.run) {
    if (!figure.before && !figure.after) continue;
    const bool is_time = figure.name == "makespan" || figure.name == "lost";
    const std::string key = figure.name + (figure.name == "used" ? "_bytes" : is_time ? "_s" : "");
    Json& both = run[key] = Json::object();
    if (figure.before) both["before"] = *figure.before;
    if (figure.after) both["after"] = *figure.after;
  }
  json["all"] = class_json(comparison.all);
  json["classes"] = Json::array();
  for (const ClassComparison& compared : comparison.classes) {
    json["classes"].push_back(class_json(compared));
  }
  json["only_before"] = comparison.only_before;
  json["only_after"] = comparison.only_after;
  json["breaches"] = breaches;
  return report::text_of(json, report::JsonForm::pretty);
}

}  // namespace plimsoll::analysis
