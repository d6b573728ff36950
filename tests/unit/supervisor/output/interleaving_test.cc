// Random interleavings of what several jobs write.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

// Several programs that write numbered lines, torn anywhere, to both outputs.
struct Programs {
  struct Program {
    Job job;
    std::string out, err;  // what it has written
  };

  Programs(Stage& stage, unsigned count) {
    for (unsigned i = 1; i <= count; ++i) programs.emplace(i, Program{stage.open(i), {}, {}});
  }

  // One of them writes a little, or ends.
  void step() {
    auto chosen = programs.begin();
    std::advance(chosen, *rc::gen::inRange<std::size_t>(0, programs.size()));
    auto& [id, program] = *chosen;
    const int what = *rc::gen::inRange(0, 10);
    if (what == 0) {
      finished.push_back(id);
      program.job.ends();
      all.insert(programs.extract(chosen));
      return;
    }
    // 'A' for job 1, and so on; small letters for stderr.
    const bool to_err = what < 4;
    const char letter = static_cast<char>((to_err ? 'a' : 'A') + id - 1);
    std::string text(*rc::gen::inRange<std::size_t>(1, 300), letter);
    for (int newlines = *rc::gen::inRange(0, 3); newlines > 0; --newlines) {
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = '\n';
    }
    if (to_err) {
      program.job.complains(text);
      program.err += text;
    } else {
      program.job.says(text);
      program.out += text;
    }
  }

  std::map<unsigned, Program> programs;  // that run
  std::map<unsigned, Program> all;       // that have ended
  std::vector<unsigned> finished;        // in this order
};

void run_to_the_end(Stage& stage, Programs& programs) {
  while (!programs.programs.empty()) programs.step();
  stage.drain();
}

RC_GTEST_PROP(Interleaving, OfGroupsIsNone, ()) {
  Stage stage;
  Programs programs(stage, *rc::gen::inRange(1u, 6u));
  run_to_the_end(stage, programs);
  std::string out, err;
  for (const unsigned id : programs.finished) {
    out += programs.all.at(id).out;
    err += programs.all.at(id).err;
  }
  // Both files tell the jobs in the same order, whichever of them wrote first.
  RC_ASSERT(stage.printed() == out);
  RC_ASSERT(stage.printed_err() == err);
}

RC_GTEST_PROP(Interleaving, OfOrderedIsNone, ()) {
  Stage stage({.order = Order::ordered});
  Programs programs(stage, *rc::gen::inRange(1u, 6u));
  run_to_the_end(stage, programs);
  std::string out, err;
  for (const auto& [id, program] : programs.all) {
    out += program.out;
    err += program.err;
  }
  RC_ASSERT(stage.printed() == out);
  RC_ASSERT(stage.printed_err() == err);
}

// The text of each letter: its lines that are not empty, each ended.
std::map<char, std::string> lines_by_letter(std::string_view text) {
  std::map<char, std::string> lines;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    RC_ASSERT(std::all_of(line.begin(), line.end(), [&](char c) { return c == line[0]; }));
    (lines[line[0]] += line) += '\n';
  }
  return lines;
}

RC_GTEST_PROP(Interleaving, OfLinesTearsNone, ()) {
  const UniqueFd both(::memfd_create("both", MFD_CLOEXEC));
  Stage stage({.order = Order::line, .out = both.get(), .err = both.get()});
  Programs programs(stage, *rc::gen::inRange(1u, 6u));
  run_to_the_end(stage, programs);
  std::map<char, std::string> expected;
  for (const auto& [id, program] : programs.all) {
    expected.merge(lines_by_letter(program.out));
    expected.merge(lines_by_letter(program.err));
  }
  RC_ASSERT(lines_by_letter(*read_text(both.get())) == expected);
}

}  // namespace
}  // namespace plimsoll::output
