// A whole trace: its lines, and who needs whom.
#include "sim/curves.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/quantities.h"
#include "sim/unpack.h"

namespace plimsoll::sim {
namespace {

using nlohmann::json;

// Bounds of what a curve may say, far beyond any machine, so that sums stay exact enough.
constexpr double kSecondsMax = 1e8;
constexpr double kMibMax = 1e9;
constexpr double kCpuPercentMax = 1e7;
constexpr int kPriorityMax = 1'000'000;
constexpr std::size_t kShownBytes = 60;

tl::unexpected<Error> found(const std::string& what, const std::string& expected) {
  return fail("found " + what + ", expected " + expected);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

Result<std::string> text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return found("no \"" + std::string(key) + "\"", "text");
  if (at->is_number_unsigned()) return std::to_string(at->get<std::uint64_t>());
  if (!at->is_string() || at->get_ref<const std::string&>().empty()) {
    return found(shown(*at) + " as \"" + key + "\"", "text that is not empty");
  }
  return at->get<std::string>();
}

Result<const json*> numbers_of(const json& object, const char* key, double most) {
  const auto at = object.find(key);
  if (at == object.end()) return found("no \"" + std::string(key) + "\"", "a list of numbers");
  if (!at->is_array() || at->empty()) {
    return found(at->is_array() ? "an empty list as \"" + std::string(key) + "\""
                                : shown(*at) + " as \"" + key + "\"",
                 "a list of numbers");
  }
  for (const json& value : *at) {
    const bool good = value.is_number() && value.get<double>() >= 0 && value.get<double>() <= most;
    if (!good) {
      return found(shown(value) + " in \"" + key + "\"",
                   "numbers from 0 to " + std::to_string(static_cast<std::int64_t>(most)));
    }
  }
  return &*at;
}

Result<std::vector<CurvePoint>> points_of(const json& object) {
  const auto times = numbers_of(object, "t", kSecondsMax);
  if (!times) return tl::unexpected(times.error());
  const auto memory = numbers_of(object, "mem_mb", kMibMax);
  if (!memory) return tl::unexpected(memory.error());
  const auto cpu = numbers_of(object, "cpu_pct", kCpuPercentMax);
  if (!cpu) return tl::unexpected(cpu.error());
  const std::size_t count = (*times)->size();
  for (const auto& [key, list] : {std::pair("mem_mb", *memory), std::pair("cpu_pct", *cpu)}) {
    if (list->size() == count) continue;
    return found(std::to_string(list->size()) + " numbers in \"" + key + "\"",
                 std::to_string(count) + " as in \"t\"");
  }
  std::vector<CurvePoint> points;
  points.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr double kPercent = 100;
    points.push_back({.seconds = (**times)[i].get<double>(),
                      .mib = (**memory)[i].get<float>(),
                      .cores = static_cast<float>((**cpu)[i].get<double>() / kPercent)});
    if (i > 0 && points[i].seconds < points[i - 1].seconds) {
      return found(shown((**times)[i]) + " after " + shown((**times)[i - 1]) + " in \"t\"",
                   "increasing times");
    }
  }
  return points;
}

Result<void> read_priority(const json& object, policy::JobSpec& spec) {
  const auto at = object.find("priority");
  if (at == object.end()) return {};
  if (!at->is_number_integer() || std::abs(at->get<double>()) > kPriorityMax) {
    return found(shown(*at) + " as \"priority\"", "a whole number up to a million");
  }
  spec.priority = at->get<int>();
  return {};
}

Result<std::vector<std::string>> needs_of(const json& object) {
  std::vector<std::string> needs;
  const auto at = object.find("needs");
  if (at == object.end()) return needs;
  if (!at->is_array()) return found(shown(*at) + " as \"needs\"", "a list of ids");
  for (const json& need : *at) {
    if (need.is_number_unsigned()) {
      needs.push_back(std::to_string(need.get<std::uint64_t>()));
    } else if (need.is_string()) {
      needs.push_back(need.get<std::string>());
    } else {
      return found(shown(need) + " in \"needs\"", "a list of ids");
    }
  }
  return needs;
}

// One line of a trace: a job without its place among the others, which the whole file gives.
struct ParsedCurve {
  SimJob job;
  std::optional<std::string> id{};  // where the line has one
  std::vector<std::string> needs;
};

// Parses one JSON object. Unknown keys are passed over. Errors say what was found and what was
// expected; the caller puts in front where.
Result<ParsedCurve> parse_curve(std::string_view line) {
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return found(object.is_discarded() ? "broken JSON" : shown(object), "one JSON object");
  }
  auto job_class = text_of(object, "class");
  if (!job_class) return pass(std::move(job_class));
  auto name = text_of(object, "name");
  if (!name) return pass(std::move(name));
  auto points = points_of(object);
  if (!points) return pass(std::move(points));
  ParsedCurve parsed{.job = {.spec = {}, .curve = Curve(std::move(*points))}, .needs = {}};
  policy::JobSpec& spec = parsed.job.spec;
  spec.job_class = std::move(*job_class);
  spec.command = *name;
  spec.name = std::move(*name);
  if (auto read = read_priority(object, spec); !read) return pass(std::move(read));
  auto needs = needs_of(object);
  if (!needs) return pass(std::move(needs));
  parsed.needs = std::move(*needs);
  if (object.contains("id")) {
    auto id = text_of(object, "id");
    if (!id) return pass(std::move(id));
    spec.name = *id;
    parsed.id = std::move(*id);
  }
  return parsed;
}

// std::shuffle is another one in each standard library.
void shuffle(std::vector<std::size_t>& places, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1], places[random() % left]);
  }
}

}  // namespace

Curve::Curve(std::vector<CurvePoint> points) : points_(std::move(points)) {
  PLIMSOLL_CHECK(!points_.empty());
  const double begin = points_.front().seconds;
  for (CurvePoint& point : points_) point.seconds -= begin;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    points_[i].seconds = std::max(points_[i].seconds, points_[i - 1].seconds + kTwiceGap);
  }
  if (points_.size() == 1) {
    points_.push_back(points_.front());
    points_.back().seconds = kSinglePointHeld;
  }
  if (points_.front().mib > 0) {
    CurvePoint allocated = points_.front();
    // At most half-way to the second point, which stays where it is.
    allocated.seconds =
        std::min(double{allocated.mib} / kFirstAllocationRate, points_[1].seconds / 2);
    points_.front().mib = 0;
    points_.insert(points_.begin() + 1, allocated);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    peak_mib_ = std::max(peak_mib_, double{points_[i].mib});
    if (i == 0) continue;
    const double gap = points_[i].seconds - points_[i - 1].seconds;
    cpu_seconds_ += double{points_[i - 1].cores} * gap;
    mib_seconds_ += (double{points_[i - 1].mib} + double{points_[i].mib}) / 2 * gap;
  }
}

namespace {

struct Lines {
  std::vector<SimJob> jobs;
  std::vector<std::vector<std::string>> needs;   // of each
  std::vector<std::size_t> numbers;              // of its line
  std::unordered_map<std::string, JobId> names;  // by the first that has it
  std::size_t points = 0;
};

std::string place(std::string_view file, std::size_t line) {
  return std::string(file) + ":" + std::to_string(line);
}

Result<void> take(Lines& lines, std::string_view line, std::size_t number) {
  if (line.size() > kCurveLineBytesMax) {
    return fail("found a line of " + std::to_string(line.size()) + " bytes, expected at most " +
                std::to_string(kCurveLineBytesMax));
  }
  auto parsed = parse_curve(line);
  if (!parsed) return pass(std::move(parsed));
  lines.points += parsed->job.curve.points().size();
  if (lines.jobs.size() == kCurveJobsMax || lines.points > kCurvePointsMax) {
    return fail("found more, expected at most " + std::to_string(kCurveJobsMax) + " jobs and " +
                std::to_string(kCurvePointsMax) + " points");
  }
  policy::JobSpec& spec = parsed->job.spec;
  spec.id = id_of(lines.jobs.size());
  const auto [at, is_new] = lines.names.emplace(spec.name, spec.id);
  if (!is_new && parsed->id) {
    return fail("found the id \"" + spec.name +
                "\" twice, expected a different id for each job; line " +
                std::to_string(lines.numbers[index_of(at->second)]) + " has the same id");
  }
  lines.jobs.push_back(std::move(parsed->job));
  lines.needs.push_back(std::move(parsed->needs));
  lines.numbers.push_back(number);
  return {};
}

// Whether each job comes after all that it needs, in some order.
bool has_no_cycle(const std::vector<SimJob>& jobs) {
  std::vector<std::vector<std::size_t>> dependents(jobs.size());
  std::vector<std::size_t> left(jobs.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    left[i] = jobs[i].spec.needs.size();
    for (const JobId need : jobs[i].spec.needs) dependents[index_of(need)].push_back(i);
    if (left[i] == 0) ready.push_back(i);
  }
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const std::size_t job = ready.back();
    ready.pop_back();
    for (const std::size_t dependent : dependents[job]) {
      if (--left[dependent] == 0) ready.push_back(dependent);
    }
  }
  return done == jobs.size();
}

Result<std::string> read_all(const std::string& path) {
  auto fd = open_at(AT_FDCWD, path, O_RDONLY);
  if (!fd) return pass(std::move(fd));
  std::string text;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t size = ::read(fd->get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail_errno("read " + path);
    if (size == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(size));
    if (text.size() > kCurveTextBytesMax) {
      return fail(path + ": found more than " + std::to_string(kCurveTextBytesMax) + " bytes");
    }
  }
}

}  // namespace

Result<std::vector<SimJob>> parse_curves(std::string_view text, std::string_view file) {
  Lines lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (trim(line).empty()) continue;
    if (auto taken = take(lines, line, number); !taken) {
      return pass(std::move(taken), place(file, number));
    }
  }
  for (std::size_t i = 0; i < lines.jobs.size(); ++i) {
    for (const std::string& need : lines.needs[i]) {
      const auto at = lines.names.find(need);
      if (at == lines.names.end()) {
        return fail(place(file, lines.numbers[i]) + ": found \"" + need +
                    "\" in \"needs\", expected the id of a job of this file");
      }
      lines.jobs[i].spec.needs.push_back(at->second);
    }
  }
  if (lines.jobs.empty()) return fail(std::string(file) + ": found no job, expected at least one");
  if (!has_no_cycle(lines.jobs)) {
    return fail(std::string(file) + ": found a cycle of jobs that need each other");
  }
  return std::move(lines.jobs);
}

Result<std::vector<SimJob>> read_curves(const std::string& path) {
  auto text = read_all(path);
  if (!text) return pass(std::move(text));
  if (is_xz(*text)) {
    text = unpack_xz(*text, kCurveTextBytesMax);
    if (!text) return pass(std::move(text), path);
  }
  return parse_curves(*text, path);
}

std::vector<SimJob> in_order(std::vector<SimJob> jobs, Order order, std::uint64_t seed) {
  std::vector<std::size_t> places(jobs.size());  // where each new one was
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == Order::shuffle) shuffle(places, seed);
  if (order == Order::longest) {
    std::sort(places.begin(), places.end(), [&jobs](std::size_t a, std::size_t b) {
      const double longer = jobs[a].curve.seconds() - jobs[b].curve.seconds();
      return longer != 0 ? longer > 0 : a < b;
    });
  }
  std::vector<JobId> renamed(jobs.size());
  for (std::size_t i = 0; i < places.size(); ++i) renamed[places[i]] = id_of(i);
  std::vector<SimJob> ordered;
  ordered.reserve(jobs.size());
  for (const std::size_t from : places) {
    SimJob& job = ordered.emplace_back(std::move(jobs[from]));
    job.spec.id = id_of(ordered.size() - 1);
    for (JobId& need : job.spec.needs) need = renamed[index_of(need)];
  }
  return ordered;
}

}  // namespace plimsoll::sim
