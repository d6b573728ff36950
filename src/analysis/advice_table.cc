#include "analysis/advice_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/words.h"
#include "base/quantity.h"
#include "base/text.h"
#include "report/plain.h"
#include "report/table.h"

namespace plimsoll::analysis {
namespace {

// Of what was reserved: "62 %", "-20 %" where it was too little.
std::string saved_text(const std::optional<Saving>& saving) {
  if (!saving || saving->asked_byte_seconds <= 0) return "-";
  return percent_text(saving->saved_byte_seconds / saving->asked_byte_seconds);
}

std::string confidence_text(const ClassAdvice& advice) {
  return advice.basis == Basis::cut_short ? "-" : percent_text(advice.confidence);
}

std::string notes(const Advice& advice) {
  const auto of_basis = [&advice](Basis basis) {
    return static_cast<std::size_t>(
        std::count_if(advice.classes.begin(), advice.classes.end(),
                      [basis](const ClassAdvice& one) { return one.basis == basis; }));
  };
  std::string text = fmt::format(
      "SURE: how certain it is that {:g} % of further attempts need no more than MEMORY.\n",
      advice.coverage.quantile * kPercent);
  if (const std::size_t few = of_basis(Basis::most_seen); few > 0) {
    text += fmt::format(
        "{} too few attempts to be {:g} % sure: their request is the most that was seen and {} of "
        "it.\n",
        few == 1 ? "1 class has" : std::to_string(few) + " classes have",
        advice.coverage.confidence * kPercent, percent_text(kRoomAboveMost));
  }
  if (const std::size_t cut = of_basis(Basis::cut_short); cut > 0) {
    text += fmt::format("{} an attempt that was ended before its peak: \"-\" in SURE.\n",
                        cut == 1 ? "1 class has" : std::to_string(cut) + " classes have");
  }
  constexpr double kWorthTelling = 1.05;
  if (advice.one_for_all >= kWorthTelling) {
    text += fmt::format(
        "One request for all classes, {}, would have reserved {:.1f} times as much memory.\n",
        format_bytes(advice.classes.front().memory), advice.one_for_all);
  }
  return text;
}

}  // namespace

std::string advice_table(const Advice& advice, const AdviceSource& source) {
  using report::Align;
  if (advice.classes.empty()) return "Nothing is known from " + source.words + ".\n";
  std::vector<report::Column> columns = {
      {.heading = "MEMORY", .cells = {}},     {.heading = "CORES", .cells = {}},
      {.heading = "TIME LIMIT", .cells = {}}, {.heading = "COUNT", .cells = {}},
      {.heading = "SURE", .cells = {}},       {.heading = "MEDIAN", .cells = {}},
      {.heading = "MAX", .cells = {}}};
  const bool was_asked = std::any_of(advice.classes.begin(), advice.classes.end(),
                                     [](const ClassAdvice& one) { return one.saving.has_value(); });
  report::Column asked{.heading = "ASKED", .cells = {}}, saved{.heading = "SAVED", .cells = {}};
  report::Column name{.heading = "CLASS", .align = Align::left, .cells = {}};
  for (const ClassAdvice& one : advice.classes) {
    columns[0].cells.push_back(format_bytes(one.memory));
    columns[1].cells.push_back(std::to_string(one.cores));
    columns[2].cells.push_back(format_duration(one.time_limit));
    columns[3].cells.push_back(std::to_string(one.count));
    columns[4].cells.push_back(confidence_text(one));
    columns[5].cells.push_back(format_bytes(one.median));
    columns[6].cells.push_back((one.at_least > 0 ? ">= " : "") + format_bytes(one.most));
    asked.cells.push_back(one.saving ? format_bytes(one.saving->asked_most) : "-");
    saved.cells.push_back(saved_text(one.saving));
    name.cells.push_back(report::printable(one.name));
  }
  if (was_asked) {
    columns.push_back(std::move(asked));
    columns.push_back(std::move(saved));
  }
  columns.push_back(std::move(name));
  return "What to ask for, from " + source.words + ":\n" +
         report::table_text(columns, source.width) + notes(advice);
}

}  // namespace plimsoll::analysis
