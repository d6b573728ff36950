#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/result.h"
#include "cli/frame.h"
#include "cli/notices.h"
#include "policy/job/event.h"
#include "report/report.h"
#include "report/shared_text.h"
#include "supervisor/control/run_status.h"

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

// What the locale says that the terminal can show.
[[nodiscard]] Glyphs terminal_glyphs();

// The run that is shown.
class ShownRun {
 public:
  virtual ~ShownRun() = default;
  // As it stands: asked ten times a second at most.
  [[nodiscard]] virtual supervisor::RunStatus status() const = 0;
  [[nodiscard]] virtual const policy::JobSpec& spec_of(JobId job) const = 0;
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
class Display : public Notices {
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
  class Impl;
  explicit Display(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll::cli
