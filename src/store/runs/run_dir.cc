#include "store/runs/run_dir.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "report/plain.h"

namespace plimsoll::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetaFile = "meta.json";
constexpr std::size_t kNamedMax = 5;  // ids that an error lists
// A run has its meta.json in a moment; a directory of files of ours that has none for so long is
// what a loss of power, or a kill in that moment, has left.
constexpr auto kBeginningMax = std::chrono::hours(1);
constexpr std::array<std::string_view, 6> kOurFiles = {
    kMetaFile, "events.jsonl", "jobs.jsonl", "summary.json", "meta.json.tmp", "summary.json.tmp"};

// The ids in order, which is that of their starts. A directory that can't be read has none.
std::vector<std::string> ids_in(const std::string& runs_dir) {
  std::vector<std::string> ids;
  std::error_code error;
  for (fs::directory_iterator at(runs_dir, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) ids.push_back(at->path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Nothing: somebody holds the lock, or the directory is gone.
std::optional<UniqueFd> lock(const std::string& path) {
  auto dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!dir || ::flock(dir->get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return std::move(*dir);
}

bool is_running(const std::string& path) {
  auto dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  return dir && ::flock(dir->get(), LOCK_SH | LOCK_NB) != 0;
}

Result<MarkedMeta> read_meta(const std::string& path) {
  auto text = read_text_at(AT_FDCWD, path + '/' + kMetaFile);
  if (!text) return pass(std::move(text));
  auto marked = parse_meta(*text);
  if (!marked) return fail(path + '/' + kMetaFile + " is not a document plimsoll.meta/1");
  return std::move(*marked);
}

Result<RunEntry> read_run(const std::string& path) {
  auto marked = read_meta(path);
  if (!marked) return pass(std::move(marked));
  RunEntry entry{.id = marked->meta.run, .path = path, .meta = std::move(marked->meta)};
  if (marked->mark == RunMark::finished) {
    entry.state = RunState::finished;
    if (auto summary = read_text_at(AT_FDCWD, path + "/summary.json")) {
      entry.figures = parse_figures(*summary);
    }
  } else if (is_running(path)) {
    entry.state = RunState::running;
  }
  return entry;
}

Bytes size_of(const std::string& path) {
  Bytes size{};
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto bytes = at->file_size(gone);
    if (!gone) size += Bytes{bytes};
  }
  return size;
}

// Of a directory that has no meta.json that can be read.
bool is_remnant(const std::string& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  if (error || fs::file_time_type::clock::now() - changed < kBeginningMax) return false;
  fs::directory_iterator at(path, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (std::find(kOurFiles.begin(), kOurFiles.end(), name) == kOurFiles.end()) return false;
  }
  return !error;
}

std::string names(const std::vector<std::string>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size() && i < kNamedMax; ++i) {
    text += (i == 0 ? "" : ", ") + printable(ids[i]);
  }
  if (ids.size() > kNamedMax) text += " and " + std::to_string(ids.size() - kNamedMax) + " more";
  return text;
}

}  // namespace

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::finished: return "finished";
    case RunState::died: return "died";
  }
  return {};
}

Result<std::vector<RunEntry>> list_runs(const std::string& runs_dir) {
  std::vector<RunEntry> runs;
  if (auto dir = open_at(AT_FDCWD, runs_dir, O_RDONLY | O_DIRECTORY); !dir) {
    if (dir.error().gone()) return runs;
    return pass(std::move(dir));
  }
  for (const std::string& id : ids_in(runs_dir)) {
    if (auto run = read_run(runs_dir + '/' + id)) runs.push_back(std::move(*run));
  }
  return runs;
}

std::optional<std::size_t> back_from_last(std::string_view name) {
  constexpr std::string_view kLast = "last", kBefore = "last-";
  if (name == kLast) return 0;
  if (!name.starts_with(kBefore)) return std::nullopt;
  return to_u64(name.substr(kBefore.size()));
}

Result<RunEntry> find_run(const std::string& runs_dir, const std::string& name) {
  if (name.find('/') != std::string::npos) return read_run(name);
  const std::vector<std::string> ids = ids_in(runs_dir);
  if (ids.empty()) return fail("no run is recorded in " + runs_dir);
  if (const auto back = back_from_last(name)) {
    // One that begins just now may have no meta.json yet.
    std::size_t passed = 0;
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      if (auto run = read_run(runs_dir + '/' + *id); run && passed++ == *back) return run;
    }
    return fail("there is no run \"" + name + "\"; " + std::to_string(passed) +
                (passed == 1 ? " run is" : " runs are") + " recorded, `plimsoll runs` lists them");
  }
  std::vector<std::string> matches;
  for (const std::string& id : ids) {
    if (id == name) return read_run(runs_dir + '/' + id);
    if (id.starts_with(name)) matches.push_back(id);
  }
  if (matches.empty()) {
    return fail("there is no run \"" + printable(name) + "\"; the last one is " + ids.back() +
                ", `plimsoll runs` lists all");
  }
  if (matches.size() > 1) {
    return fail("\"" + printable(name) + "\" matches several runs: " + names(matches));
  }
  return read_run(runs_dir + '/' + matches.front());
}

void prune_runs(const std::string& runs_dir, const RunBounds& bounds) {
  struct Run {
    std::string path;
    RunKind kind{};
    Bytes size{};
  };
  std::vector<Run> runs;
  Bytes total{};
  std::size_t singles = 0;
  for (const std::string& id : ids_in(runs_dir)) {
    const std::string path = runs_dir + '/' + id;
    const auto marked = read_meta(path);
    if (!marked) {
      std::error_code ignored;
      const auto locked = is_remnant(path) ? lock(path) : std::nullopt;
      if (locked) fs::remove_all(path, ignored);
      continue;  // else it is not ours to remove
    }
    runs.push_back({.path = path, .kind = marked->meta.kind, .size = size_of(path)});
    total += runs.back().size;
    if (runs.back().kind == RunKind::single) ++singles;
  }
  std::size_t count = runs.size();
  for (const Run& run : runs) {
    const bool is_single = run.kind == RunKind::single;
    const bool too_many = count > bounds.runs || total > bounds.bytes;
    if (!too_many && (!is_single || singles <= bounds.single_runs)) continue;
    const auto locked = lock(run.path);
    if (!locked) continue;
    std::error_code error;
    fs::remove_all(run.path, error);
    if (error) continue;
    --count;
    if (is_single) --singles;
    total = total - run.size;
  }
}

}  // namespace plimsoll::report
