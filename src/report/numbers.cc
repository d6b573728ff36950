#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity.h"
#include "report/plain.h"

namespace plimsoll::report {
namespace {

using Render = std::string (*)(double value);

std::string plain(double value) { return fmt::format("{:.4g}", value); }

std::string bytes(double value) {
  constexpr double kMax = 1.8e19;  // what Bytes holds
  if (std::abs(value) >= kMax || std::isnan(value)) return plain(value);
  const std::string sign = value < 0 ? "-" : "";
  return sign + format_bytes(Bytes{static_cast<std::uint64_t>(std::abs(value))});
}

std::string bytes_per_second(double value) { return bytes(value) + "/s"; }

std::string byte_seconds(double value) { return bytes(value) + " x s"; }

std::string seconds(double value) {
  constexpr double kMax = 9e9;  // what Duration holds
  if (!(std::abs(value) < kMax)) return plain(value) + " s";
  const std::chrono::duration<double> time(std::abs(value));
  return (value < 0 ? "-" : "") + format_duration(std::chrono::duration_cast<Duration>(time));
}

std::string nanoseconds(double value) { return seconds(value / 1e9); }

std::string percent(double value) { return fmt::format("{:.3g} %", value); }

std::string share(double value) { return percent(value * 100); }

// Hundredths; a thousandth of a core more or less is nobody's concern.
std::string cores(double value) {
  std::string text = fmt::format("{:.2f}", value);
  if (text.ends_with(".00")) text.resize(text.size() - 3);
  return text;
}

struct Unit {
  std::string_view suffix;  // of a name
  Render render;
};

// The first that fits is a name's unit.
constexpr std::array<Unit, 7> kUnits = {{{"_bytes_per_s", bytes_per_second},
                                         {"_byte_s", byte_seconds},
                                         {"_bytes", bytes},
                                         {"_ns", nanoseconds},
                                         {"_s", seconds},
                                         {"_percent", percent},
                                         {"_share", share}}};

struct Known {
  std::string_view name;
  std::string_view words;  // empty: those of the name, without its unit
  Render render;           // null: that of the name's unit
  std::string_view meaning;
};

// The numbers of the governor's decisions. "The job" is the one that an event is about.
constexpr std::array<Known, 61> kKnown = {{
    {"line_bytes", "", nullptr, "memory that all jobs together may use"},
    {"limit_bytes", "", nullptr, "the line, or less if the machine itself is short of memory"},
    {"allowed_bytes", "", nullptr, "the limit, less a cushion"},
    {"used_bytes", "", nullptr, "memory that all jobs use and that cannot be dropped"},
    {"rise_bytes", "", nullptr, "growth of all jobs that is expected before the next sample"},
    {"coming_back_bytes", "", nullptr, "memory of jobs that are being killed"},
    {"others_then_bytes", "the others then", nullptr,
     "memory that the running jobs are expected to use at most, at the time of \"looking ahead\""},
    {"with_it_bytes", "with it", nullptr, "the same, with the job running too"},
    {"horizon_s", "looking ahead", nullptr, "how far ahead memory is expected to be shortest"},
    {"estimate_bytes", "", nullptr, "the memory peak that the job is expected to have"},
    {"spread_bytes", "", nullptr, "uncertainty of the estimate (standard deviation)"},
    {"attempts_known", "earlier attempts known", plain, "on which the estimate is based"},
    {"admitted_with_bytes", "", nullptr, "the estimate of the job when it started"},
    {"job_used_bytes", "", nullptr, "memory that the job uses and that cannot be dropped"},
    {"growth_bytes_per_s", "", nullptr, "growth of the job, or for an alarm of all jobs"},
    {"shortage_bytes", "", nullptr, "how much more than the limit is in use or expected"},
    {"over_bytes", "", nullptr, "how much more than the limit is in use"},
    {"unaccounted_bytes", "", nullptr, "memory in use that belongs to no running job"},
    {"left_by_others_bytes", "", nullptr, "memory that other runs leave to this run"},
    {"taken_by_others_bytes", "about to be used by others", nullptr,
     "memory that other runs may be about to use, as their jobs have just started or they have not "
     "told yet"},
    {"told_by_others_bytes", "reported by others", nullptr,
     "memory that runs of other users report as used"},
    {"lost_cpu_s", "", nullptr, "CPU time of the attempt, which is lost"},
    {"cores", "cores to use", cores, "cores that all jobs together may use"},
    {"cores_predicted", "cores expected to be used", cores, "by the running jobs"},
    {"cores_estimate", "cores it is expected to use", cores, "by the job"},
    {"cores_of_others", "cores that other programs use", cores, "programs outside Plimsoll"},
    {"cores_wanted", "", nullptr, "cores that the running jobs would use if there were enough"},
    {"crowded_for_s", "", nullptr, "for how long they have wanted so many"},
    {"runnable", "tasks that want to run", cores, "in runs of older versions"},
    {"free_bytes", "free space", nullptr, "of the file system, for users"},
    {"floor_bytes", "to stay free", nullptr, "of the file system"},
    {"promised_bytes", "to be written", nullptr, "what the running jobs are expected to write"},
    {"to_write_bytes", "", nullptr, "what the job is expected to write at most"},
    {"job_written_bytes", "", nullptr, "what the job has written"},
    {"io_full", "all stalled on I/O", share, "share of the time in which all tasks were stalled"},
    {"io_waited_share", "", nullptr, "share of the time in which some job waited for I/O"},
    {"io_running", "running jobs bound by I/O", plain,
     "that wait for storage for much of their time"},
    {"io_unshown", "of these just started", plain, "what they do to the disk is not measured yet"},
    {"io_fewer", "jobs bound by I/O, fewer", plain, "so many moved nearly as much as more did"},
    {"fewer_moved_bytes_per_s", "", nullptr, "read and written by all jobs while so many ran"},
    {"io_more", "jobs bound by I/O, more", plain, "so many moved hardly more than fewer did"},
    {"more_moved_bytes_per_s", "", nullptr, "read and written by all jobs while so many ran"},
    {"running", "running jobs", plain, "jobs that are running and not paused"},
    {"unsettled", "running jobs of unknown need", plain,
     "running jobs without history that have not shown yet what they need"},
    {"cap", "", nullptr, "maximum number of jobs of its class at once"},
    {"jobs_max", "", nullptr, "maximum number of jobs at once"},
    {"places", "", nullptr, "how many jobs the user of the job may run at once now"},
    {"share", "share", share, "the user's share of memory, cores or places, whichever is largest"},
    {"fair_share", "", nullptr, "the share that each user may have"},
    {"priority", "", nullptr, "jobs of higher priority start first"},
    {"weight", "", nullptr, "share of CPU time and I/O in competition with other jobs"},
    {"frozen_s", "", nullptr, "for how long the job was paused"},
    {"stood_still_s", "without progress", nullptr, "time in which the oldest job used no CPU time"},
    {"paused_byte_s", "paused", byte_seconds, "memory of the paused jobs x time of their pause"},
    {"again_byte_s", "to run it again", byte_seconds, "memory of the victims x their running time"},
    {"available_bytes", "", nullptr, "memory that is available on the machine"},
    {"reserve_bytes", "", nullptr, "memory that is kept free for other programs"},
    {"stalled_s", "", nullptr, "time in which tasks were stalled on memory"},
    {"within_s", "", nullptr, "the time in which they were"},
    {"high_events", "", nullptr, "how often the kernel throttled jobs at the line"},
    {"max_events", "", nullptr, "how often the jobs reached the hard limit above the line"},
}};

const Known* known_of(std::string_view name) {
  const auto* const found = std::ranges::find(kKnown, name, &Known::name);
  return found == kKnown.end() ? nullptr : found;
}

const Unit* unit_of(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kUnits, [name](const Unit& one) { return name.ends_with(one.suffix); });
  return found == kUnits.end() ? nullptr : found;
}

Render render_of(std::string_view name) {
  const Known* const known = known_of(name);
  if (known != nullptr && known->render != nullptr) return known->render;
  if (const Unit* const unit = unit_of(name)) return unit->render;
  return name.starts_with("cores") ? cores : plain;
}

}  // namespace

std::string number_label(std::string_view name) {
  const Known* const known = known_of(name);
  if (known != nullptr && !known->words.empty()) return std::string(known->words);
  if (const Unit* const unit = unit_of(name)) name.remove_suffix(unit->suffix.size());
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return printable(words);
}

std::string number_text(std::string_view name, double value) {
  return fmt::format("{} {}", number_label(name), render_of(name)(value));
}

std::string_view number_meaning(std::string_view name) {
  const Known* const known = known_of(name);
  return known == nullptr ? std::string_view() : known->meaning;
}

}  // namespace plimsoll::report
