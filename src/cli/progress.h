#pragma once

#include <string>

#include "base/units.h"
#include "engine/batch.h"

namespace plimsoll::cli {

enum class ProgressStyle : std::uint8_t {
  bar,    // one line of a terminal, drawn again and again
  plain,  // a line for each job that ends
  none,
};

// `auto`, `plain` or `none` as the user says it; auto is a bar on a terminal, else none.
Result<ProgressStyle> parse_progress(std::string_view text);

// Shows on standard error how far a run is. Other text for people goes through note(), so that it
// does not tear the line.
class ProgressLine {
 public:
  ProgressLine(ProgressStyle style, Instant begun) : style_(style), begun_(begun) {}
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const engine::Progress& progress, Instant now);
  void ended(const policy::JobSpec& job, const record::JobReport& report);
  void note(const std::string& text);
  // Erases the line.
  void finish() { erase(); }

 private:
  void draw(Instant now);
  void erase();

  ProgressStyle style_;
  Instant begun_;
  engine::Progress progress_;
  std::optional<Instant> drawn_at_;
};

}  // namespace plimsoll::cli
