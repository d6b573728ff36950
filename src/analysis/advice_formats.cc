#include "analysis/advice_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/words.h"
#include "base/quantity.h"
#include "base/text.h"
#include "report/json_text.h"
#include "report/plain.h"
#include "report/table.h"

namespace plimsoll::analysis {
namespace {

using report::Json;
using report::printable;

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
        "{} too few attempts to be {:g} % sure: {} request is the most that was seen and {} of "
        "it.\n",
        few == 1 ? "1 class has" : std::to_string(few) + " classes have",
        advice.coverage.confidence * kPercent, few == 1 ? "its" : "their",
        percent_text(kRoomAboveMost));
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

std::string nothing_known(const AdviceSource& source) {
  return "Nothing is known from " + printable(source.words) + ".\n";
}

// Advice for people: a row for each class, and what the columns rest on.
std::string advice_table(const Advice& advice, const AdviceSource& source) {
  using report::Align;
  if (advice.classes.empty()) return nothing_known(source);
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

std::uint64_t mib_up(Bytes bytes) {
  constexpr std::uint64_t kMib = 1 << 20;
  return bytes.count / kMib + (bytes.count % kMib == 0 ? 0 : 1);
}

// Snakemake's mem_mb: of a thousand thousand bytes.
std::uint64_t megabytes_up(Bytes bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  return bytes.count / kMegabyte + (bytes.count % kMegabyte == 0 ? 0 : 1);
}

std::int64_t minutes(Duration time) {
  return std::chrono::duration_cast<std::chrono::minutes>(time).count();
}

// What a request rests on, for a comment above it.
std::string ground_of(const ClassAdvice& advice, const Coverage& coverage) {
  std::string text = counted(advice.count, "attempt", "attempts") + ", largest " +
                     format_bytes(advice.most) + "; ";
  if (advice.basis == Basis::cut_short) {
    return text + "one was ended before its peak, so it may need more";
  }
  return text + fmt::format("enough for {:g} % of attempts with a certainty of {:.0f} %",
                            coverage.quantile * kPercent, advice.confidence * kPercent);
}

std::string heading(std::string_view comment, const Advice& advice, const AdviceSource& source,
                    std::string_view where) {
  if (advice.classes.empty()) return fmt::format("{} {}", comment, nothing_known(source));
  return fmt::format("{} Requests by class, from {}; {}\n", comment, printable(source.words),
                     where);
}

std::string slurm_text(const Advice& advice, const AdviceSource& source) {
  std::string text =
      heading("#", advice, source, "put a block at the head of the script that sbatch runs.");
  for (const ClassAdvice& one : advice.classes) {
    const std::int64_t limit = minutes(one.time_limit);
    text += fmt::format(
        "\n# {}: {}\n#SBATCH --mem={}M\n#SBATCH --cpus-per-task={}\n#SBATCH --time={}\n",
        printable(one.name), ground_of(one, advice.coverage), mib_up(one.memory), one.cores, limit);
  }
  return text;
}

// Of a rule: a name of Python.
bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

std::string snakemake_text(const Advice& advice, const AdviceSource& source) {
  std::string text = heading("#", advice, source, "for config.yaml of a profile.");
  std::string resources, threads;
  for (const ClassAdvice& one : advice.classes) {
    const std::string numbers =
        fmt::format("mem_mb: {}, runtime: {}", megabytes_up(one.memory), minutes(one.time_limit));
    if (!is_identifier(one.name)) {
      text += fmt::format("# No rule has the name \"{}\": {}, threads: {}\n", printable(one.name),
                          numbers, one.cores);
      continue;
    }
    resources += fmt::format("  # {}\n  \"{}\": {{{}}}\n", ground_of(one, advice.coverage),
                             one.name, numbers);
    threads += fmt::format("  \"{}\": {}\n", one.name, one.cores);
  }
  if (resources.empty()) return text;
  return text + "set-resources:\n" + resources + "set-threads:\n" + threads;
}

// A pattern of Nextflow that only this name matches, as a string of Groovy in single quotes.
std::string nextflow_pattern(const std::string& name) {
  std::string quoted;
  for (const char c : printable(name)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
                          c == '_' || c == ':' || c == ' ' || static_cast<signed char>(c) < 0;
    if (!is_plain) quoted += "\\\\";
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string nextflow_text(const Advice& advice, const AdviceSource& source) {
  std::string text = heading("//", advice, source, "for nextflow.config.") + "process {\n";
  for (const ClassAdvice& one : advice.classes) {
    text += fmt::format(
        "  // {}\n  withName: '{}' {{\n    memory = '{} MB'\n    cpus = {}\n    time = '{} min'\n"
        "  }}\n",
        ground_of(one, advice.coverage), nextflow_pattern(one.name), mib_up(one.memory), one.cores,
        minutes(one.time_limit));
  }
  return text + "}\n";
}

// Thousandths of a core, up to tenths.
unsigned millicores(const ClassAdvice& advice) {
  constexpr double kTenths = 10;
  constexpr unsigned kMillisInTenth = 100;
  const double tenths = std::ceil(advice.cores_used.value_or(1) * kTenths);
  return static_cast<unsigned>(std::max(tenths, 1.0)) * kMillisInTenth;
}

std::string kubernetes_text(const Advice& advice, const AdviceSource& source) {
  std::string text = heading("#", advice, source, "a document for each, to stand in a container.");
  for (const ClassAdvice& one : advice.classes) {
    text += fmt::format(
        "---\n# {}: {}\nresources:\n  requests:\n    memory: {}Mi\n    cpu: {}m\n  limits:\n"
        "    memory: {}Mi\n",
        printable(one.name), ground_of(one, advice.coverage), mib_up(one.memory), millicores(one),
        mib_up(one.memory));
  }
  return text;
}

Json class_json(const ClassAdvice& advice) {
  Json json = Json::object();
  json["class"] = advice.name;
  json["memory_bytes"] = advice.memory.count;
  json["cores"] = advice.cores;
  json["time_limit_ns"] = advice.time_limit.count();
  json["basis"] = name_of(advice.basis);
  json["confidence"] = advice.confidence;
  json["count"] = advice.count;
  json["at_least"] = advice.at_least;
  json["over"] = advice.over;
  json["median_bytes"] = advice.median.count;
  json["max_bytes"] = advice.most.count;
  if (advice.cores_used) json["cores_used"] = *advice.cores_used;
  if (!advice.saving) return json;
  Json& asked = json["asked"] = Json::object();
  asked["attempts"] = advice.saving->attempts;
  asked["max_bytes"] = advice.saving->asked_most.count;
  asked["reserved_byte_s"] = advice.saving->asked_byte_seconds;
  asked["saved_byte_s"] = advice.saving->saved_byte_seconds;
  return json;
}

std::string json_text(const Advice& advice) {
  Json json = Json::object();
  json["schema"] = "plimsoll.advice/1";
  json["quantile"] = advice.coverage.quantile;
  json["confidence"] = advice.coverage.confidence;
  json["one_for_all"] = advice.one_for_all;
  json["classes"] = Json::array();
  for (const ClassAdvice& one : advice.classes) json["classes"].push_back(class_json(one));
  return report::text_of(json, report::JsonForm::pretty);
}

}  // namespace

std::optional<AdviceFormat> advice_format(std::string_view name) {
  constexpr std::pair<std::string_view, AdviceFormat> kNames[] = {
      {"text", AdviceFormat::text},         {"json", AdviceFormat::json},
      {"slurm", AdviceFormat::slurm},       {"snakemake", AdviceFormat::snakemake},
      {"nextflow", AdviceFormat::nextflow}, {"kubernetes", AdviceFormat::kubernetes},
  };
  for (const auto& [known, format] : kNames) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::string advice_text(const Advice& advice, AdviceFormat format, const AdviceSource& source) {
  switch (format) {
    case AdviceFormat::text: return advice_table(advice, source);
    case AdviceFormat::json: return json_text(advice);
    case AdviceFormat::slurm: return slurm_text(advice, source);
    case AdviceFormat::snakemake: return snakemake_text(advice, source);
    case AdviceFormat::nextflow: return nextflow_text(advice, source);
    case AdviceFormat::kubernetes: return kubernetes_text(advice, source);
  }
  return {};
}

}  // namespace plimsoll::analysis
