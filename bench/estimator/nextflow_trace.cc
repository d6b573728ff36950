#include "estimator/nextflow_trace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace plimsoll::bench {
namespace {

// The fields of a line; quotes around a field are taken off.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

class Row {
 public:
  Row(const std::vector<std::string>& names, std::vector<std::string> fields)
      : names_(names), fields_(std::move(fields)) {}

  [[nodiscard]] std::string_view text(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    const auto index = static_cast<std::size_t>(found - names_.begin());
    return index < fields_.size() ? std::string_view(fields_[index]) : std::string_view();
  }
  // Above 0.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
    const auto value = to_double(text(name));
    constexpr double kMost = 1e18;
    if (!value || *value < 1 || *value > kMost) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(*value));
  }
  [[nodiscard]] std::optional<Bytes> bytes(std::string_view name) const {
    const auto value = number(name);
    return value ? std::optional(Bytes{*value}) : std::nullopt;
  }

 private:
  const std::vector<std::string>& names_;
  std::vector<std::string> fields_;
};

}  // namespace

Result<Trace> parse_nextflow_trace(std::string_view text) {
  const std::vector<std::string> names = split(take_line(text));
  for (const char* name : {"process", "realtime", "peak_rss"}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return fail(std::string("the first line names no column \"") + name + "\"");
    }
  }
  Trace trace;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (trim(line).empty()) continue;
    const Row row(names, split(line));
    const auto peak = row.bytes("peak_rss");
    const auto ran = row.number("realtime");
    if (row.text("status") != "COMPLETED" || !peak || !ran || row.text("process").empty()) {
      ++trace.skipped;
      continue;
    }
    trace.tasks.push_back({.process = std::string(row.text("process")),
                           .submitted = row.number("submit").value_or(0),
                           .peak = *peak,
                           .ran = std::chrono::milliseconds(*ran),
                           .requested = row.bytes("memory"),
                           .input = row.bytes("rchar")});
  }
  return trace;
}

}  // namespace plimsoll::bench
