#include "cli/progress/parts.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "report/numbers.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

// From this share of the line on the bar warns.
constexpr double kNearTheLine = 0.9;
std::string part_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

}  // namespace

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", std::max(value, 0.0));
  return text.data();
}

std::string cores_text(double cores) {
  std::string text = decimal(cores);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::vector<Span> count_parts(const supervisor::RunStatus& status) {
  const supervisor::JobCounts& jobs = status.jobs;
  const std::size_t done = jobs.succeeded + jobs.failed;  // what was skipped was never begun
  const bool all_done = jobs.total > 0 && jobs.succeeded == jobs.total;
  std::vector<Span> parts = {{std::to_string(done) + "/" + part_text(jobs.total, "done"),
                              all_done ? Tone::good : Tone::strong}};
  // A daemon has no end that its jobs could be on the way to.
  if (status.loop) parts = {{counted(jobs.total, "job", "jobs"), Tone::strong}};
  if (jobs.failed > 0) parts.push_back({part_text(jobs.failed, "failed"), Tone::bad});
  if (jobs.skipped > 0) parts.push_back({part_text(jobs.skipped, "skipped"), Tone::warning});
  if (jobs.running > 0) parts.push_back({part_text(jobs.running, "running"), Tone::plain});
  if (jobs.paused > 0) parts.push_back({part_text(jobs.paused, "paused"), Tone::warning});
  if (jobs.waiting > 0) parts.push_back({part_text(jobs.waiting, "waiting"), Tone::plain});
  return parts;
}

std::string left_text(const supervisor::RunStatus& status) {
  return status.remaining ? "about " + rough_text(*status.remaining) + " left" : std::string();
}

Tone tone_of(double share) {
  return share > 1 ? Tone::bad : share >= kNearTheLine ? Tone::warning : Tone::good;
}

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string reason_of(const supervisor::HoldingStatus& holding) {
  if (holding.reason.find_first_of("0123456789") != std::string::npos) return holding.reason;
  std::string numbers;
  for (const auto& [key, value] : holding.numbers) {
    numbers += (numbers.empty() ? "" : ", ") + report::number_text(key, value);
  }
  return numbers.empty() ? holding.reason : holding.reason + " (" + numbers + ")";
}

std::string_view cause_text(const supervisor::RunningJob& job) {
  if (!job.paused_for) return "";
  switch (*job.paused_for) {
    case policy::PauseCause::memory: return "memory";
    case policy::PauseCause::cores: return "cores";
    case policy::PauseCause::space: return "disk space";
    case policy::PauseCause::user: return "user";
  }
  return "";
}

std::string title_of(const supervisor::RunningJob& job, std::size_t width) {
  const bool named = job.name != std::to_string(static_cast<std::uint64_t>(job.job));
  std::string title = report::printable(job.name);
  const std::string end =
      job.attempt > 1 ? " (attempt " + std::to_string(job.attempt) + ")" : std::string();
  if (!named && !job.command.empty()) {
    title += ": ";
    const std::size_t used = report::columns_of(title) + end.size();
    const std::size_t room = width > used ? width - used : 0;
    const std::string command = report::printable(job.command);
    const bool is_cut = job.command.size() >= supervisor::kCommandShownMax;
    const bool fits = !is_cut && report::columns_of(command) <= room;
    title += report::fitted_in_the_middle(
        fits || job.distinct.empty() ? command : report::printable(job.distinct), room);
  }
  return title + end;
}

}  // namespace plimsoll::cli
