#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "cli/progress/canvas.h"
#include "cli/progress/frame.h"
#include "cli/progress/lines.h"
#include "cli/progress/notices.h"
#include "cli/progress/writer.h"
#include "policy/job/event.h"
#include "report/report.h"
#include "report/shared_text.h"
#include "supervisor/control/run_status.h"
#include "supervisor/output/nonblocking_fd.h"

namespace plimsoll::cli {

enum class ProgressStyle : std::uint8_t {
  live,      // some lines of a terminal, drawn in place
  plain,     // a line for each thing that happens, and now and then one of counts
  failures,  // a line for each job that does not succeed
  json,      // what plain has as JSON lines (docs/formats/control.md)
  none,      // nothing but what people must know
};

// `auto`, `plain`, `failures`, `json` or `none` as the user says it. auto is live on a terminal
// that can move its cursor, else plain.
Result<ProgressStyle> parse_progress(std::string_view text);

// The run that is shown.
class ShownRun : public supervisor::JobSpecs {
 public:
  // As it stands: asked ten times a second at most.
  [[nodiscard]] virtual supervisor::RunStatus status() const = 0;
};

struct DisplayConfig {
  ProgressStyle style = ProgressStyle::none;
  Instant begun{};
  std::size_t jobs = 0;  // of the whole run
  const ShownRun& run;
  const report::SharedText& commands;  // of all its jobs
};

// Shows on standard error how a run goes, and is the one writer there while it lives: what else is
// written to that terminal goes through it, so that nothing is torn.
//
// One thread, the loop's. Never waits for the terminal: what does not fit is kept, within a bound,
// and written when there is room; a frame that was not written is replaced by the next.
class Display : public Notices, private WriterOwner {
 public:
  // `loop` must outlive this. Nothing is shown before the first call.
  static Result<std::unique_ptr<Display>> start(loop::Loop& loop, DisplayConfig config);
  ~Display() override;  // finish()

  // Something is different: look again soon. Cheap; call it at every turn.
  void changed();
  void event(const policy::Event& event);
  void ended(const policy::JobSpec& job, const report::JobReport& report);
  // Something that people should know, whatever the style: "plimsoll: TEXT".
  void note(const std::string& text) override;
  // A line as it stands; not in JSON.
  void say(const std::string& line);

  // Prints text of jobs above the frame. `done` is called, perhaps from within this call, when more
  // may come; at the latest when all was written, or can't be. A line that is not ended waits for
  // its end. No text at all asks for everything before to be written, ended or not: that is when
  // `done` comes.
  void print_above(std::string text, std::function<void(Result<void>)> done);
  // Whether text for this descriptor must go through print_above(): it leads to the terminal that
  // the frame stands on.
  [[nodiscard]] bool owns(int fd) const;

  // Ctrl-Z: erases the frame and writes nothing until resume().
  void suspend();
  void resume();

  // Erases the frame and writes what is left, for as long as kFlushPatience. For good.
  void finish();

 private:
  Display(loop::Loop& loop, DisplayConfig config, output::NonblockingFd nonblocking_fd);
  [[nodiscard]] bool draws() const { return config_.style == ProgressStyle::live; }
  [[nodiscard]] Duration age() const { return loop::now() - config_.begun; }
  bool is_news(const policy::Event& event);
  bool is_news(const report::JobReport& report);
  [[nodiscard]] LineStyle line_style() const;
  void schedule();
  void arm(Instant when);
  void on_timer();
  void draw();
  void write_above();
  void on_drained() override;
  void answer_waiting();
  void put_line(const std::string& line);
  void tell_lost();

  DisplayConfig config_;
  Glyphs glyphs_ = Glyphs::ascii;
  Writer writer_;
  Canvas canvas_;
  loop::Timer timer_;
  std::optional<Instant> armed_for_;
  std::optional<Instant> shown_at_;                         // the last frame, or status of a log
  std::vector<std::string> lines_;                          // of the frame that is drawn
  std::string above_;                                       // whole lines for the next drawing
  std::string partial_;                                     // the begin of a line
  std::vector<std::function<void(Result<void>)>> waiting_;  // for the text to be written
  Tally tally_{.ended = 0, .jobs = config_.jobs};
  std::set<policy::HoldCause> told_holds_;
  std::string told_skip_;   // why the last job was skipped
  std::string told_line_;   // why the line was changed last
  std::string told_alarm_;  // the last one that has a line, which a note may repeat
  std::size_t lost_ = 0;
  bool dirty_ = false;
  bool suspended_ = false;
  bool finished_ = false;
};

}  // namespace plimsoll::cli
