#include "jobs/joblog.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "base/text.h"
#include "jobs/place.h"

namespace plimsoll::jobs {
namespace {

constexpr std::string_view kHeader =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand";

// So much of a wrong line is shown.
constexpr std::size_t kShownOfLine = 80;

// Beyond this nanoseconds of 64 bits end.
constexpr double kSecondsMax = 9e9;

using Milliseconds = std::chrono::milliseconds;

std::optional<Duration> parse_seconds(std::string_view text) {
  const auto seconds = to_double(trim(text));  // GNU parallel pads with blanks
  if (!seconds || *seconds > kSecondsMax) return std::nullopt;
  constexpr double kPerSecond = 1e3;
  return Milliseconds(std::llround(*seconds * kPerSecond));
}

// Seconds with three decimals, exactly.
std::string format_seconds(Duration since_zero, int width) {
  const auto ms = std::max<std::int64_t>(std::chrono::round<Milliseconds>(since_zero).count(), 0);
  std::array<char, 48> text{};
  constexpr std::int64_t kPerSecond = 1000;
  constexpr int kDecimalsAndPoint = 4;
  std::snprintf(text.data(), text.size(), "%*lld.%03lld", std::max(width - kDecimalsAndPoint, 0),
                static_cast<long long>(ms / kPerSecond), static_cast<long long>(ms % kPerSecond));
  return text.data();
}

std::optional<int> parse_int(std::string_view text) {
  const auto number = to_i64(text);
  if (!number || *number < std::numeric_limits<int>::min() ||
      *number > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

std::optional<JoblogEntry> parse_line(std::string_view line) {
  constexpr char kTab = '\t';
  const auto sequence = to_u64(take_until(line, kTab));
  const std::string_view host = take_until(line, kTab);
  const auto started = parse_seconds(take_until(line, kTab));
  const auto runtime = parse_seconds(take_until(line, kTab));
  const auto sent = to_u64(take_until(line, kTab));
  const auto received = to_u64(take_until(line, kTab));
  const auto exit_value = parse_int(take_until(line, kTab));
  const std::string_view before_signal = line;
  const std::string_view signal_text = take_until(line, kTab);
  const auto signal = parse_int(signal_text);
  const bool has_command = signal_text.size() < before_signal.size();
  if (!sequence || *sequence == 0 || host.empty() || !started || !runtime || !sent || !received ||
      !exit_value || !signal || !has_command) {
    return std::nullopt;
  }
  JoblogEntry entry{*sequence,   std::string(host), WallTime(*started), *runtime, *sent, *received,
                    *exit_value, *signal,           std::string(line)};
  std::replace(entry.command.begin(), entry.command.end(), '\0', '\n');
  return entry;
}

std::string shown(std::string_view line) {
  const std::string text = "\"" + std::string(line.substr(0, kShownOfLine));
  return text + (line.size() > kShownOfLine ? "...\"" : "\"");
}

}  // namespace

ExitColumns exit_columns(const policy::AttemptEnd& end) {
  ExitColumns columns{.exit_value = end.exit_code.value_or(0), .signal = end.signal.value_or(0)};
  const bool looks_well = columns == ExitColumns{} && !policy::succeeded(end);
  if (end.outcome == policy::Outcome::timed_out || looks_well) columns.exit_value = -1;
  return columns;
}

std::string joblog_header() { return std::string(kHeader) + '\n'; }

std::string joblog_line(const JoblogEntry& entry) {
  constexpr int kRuntimeWidth = 10;
  const std::string columns = std::to_string(entry.sequence) + '\t' + entry.host + '\t' +
                              format_seconds(entry.started.time_since_epoch(), 0) + '\t' +
                              format_seconds(entry.runtime, kRuntimeWidth) + '\t' +
                              std::to_string(entry.sent) + '\t' + std::to_string(entry.received) +
                              '\t' + std::to_string(entry.exit_value) + '\t' +
                              std::to_string(entry.signal) + '\t';
  std::string command = entry.command;
  std::replace(command.begin(), command.end(), '\n', '\0');
  return columns + command + '\n';
}

Result<std::vector<JoblogEntry>> parse_joblog(std::string_view text, std::string_view file) {
  std::vector<JoblogEntry> entries;
  const std::size_t end = text.rfind('\n');
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (text.empty()) return entries;
  const std::string_view header = take_line(text);
  if (header != kHeader) {
    return fail_at({file, 1}, "found " + shown(header) + ", expected the header of a job log, " +
                                  shown(kHeader));
  }
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    auto entry = parse_line(line);
    if (!entry) {
      return fail_at({file, number},
                     "found " + shown(line) + ", expected nine columns with tabs between: " +
                         "number, host, two times, two counts, two numbers, command");
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace plimsoll::jobs
