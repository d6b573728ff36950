#include "jobfile/joblog.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "base/text.h"
#include "jobfile/place.h"

namespace plimsoll::jobfile {
namespace {

constexpr std::string_view kHeader =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand";

// So much of a wrong line is shown.
constexpr std::size_t kShownOfLine = 80;

// Longer than any command can be, and what is kept of a file that is no log and has no lines.
constexpr std::size_t kLineBytesMax = 16 << 20;

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
  const std::string text = "\"" + std::string(cut_utf8(line, kShownOfLine));
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

Result<std::vector<JoblogEntry>> JoblogParser::add(std::string_view piece) {
  std::vector<JoblogEntry> entries;
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::size_t end = newline == std::string_view::npos ? piece.size() : newline;
    const std::size_t room = kLineBytesMax - std::min(begun_.size(), kLineBytesMax);
    begun_.append(piece.substr(0, std::min(end, room)));
    begun_bytes_ += end;
    if (newline == std::string_view::npos) break;
    if (auto line = add_line(begun_, entries); !line) return pass(std::move(line));
    begun_.clear();
    whole_ += std::exchange(begun_bytes_, 0) + 1;
    piece.remove_prefix(newline + 1);
  }
  return entries;
}

Result<void> JoblogParser::end() {
  if (lines_ > 0) return {};
  std::string_view text = begun_;
  const std::size_t nuls = text.size() - (text.find_last_not_of('\0') + 1);
  text.remove_suffix(nuls);
  const bool is_whole = begun_bytes_ == begun_.size();
  return is_whole && kHeader.starts_with(text) ? Result<void>{} : no_header(text);
}

Result<void> JoblogParser::no_header(std::string_view found) const {
  return fail_at({file_, 1},
                 "found " + shown(found) + ", expected the header of a job log, " + shown(kHeader));
}

Result<void> JoblogParser::add_line(std::string_view line, std::vector<JoblogEntry>& entries) {
  const Place place{file_, ++lines_};
  if (lines_ == 1) return line == kHeader ? Result<void>{} : no_header(line);
  auto entry = line.size() < kLineBytesMax ? parse_line(line) : std::nullopt;
  if (!entry) {
    return fail_at(place, "found " + shown(line) +
                              ", expected nine columns with tabs between: number, host, two "
                              "times, two counts, two numbers, command");
  }
  entries.push_back(std::move(*entry));
  return {};
}

}  // namespace plimsoll::jobfile
