#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::cli {

// A line on the terminal that tells how the steps do, for as long as this lives. There is one only
// where the command writes elsewhere: what it prints would be mixed with the line.
class ProgressLine {
 public:
  using Text = std::function<std::string()>;

  // `loop` must outlive this. Error: why there can be none.
  static Result<std::unique_ptr<ProgressLine>> start(loop::Loop& loop, Text text);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  static constexpr Duration kGap = std::chrono::seconds(1);

 private:
  ProgressLine(loop::Loop& loop, UniqueFd terminal, Text text);
  void draw();
  void write(const std::string& text);
  [[nodiscard]] bool has_foreground() const;

  UniqueFd terminal_;
  Text text_;
  bool is_drawn_ = false;
  loop::Timer timer_;
};

}  // namespace plimsoll::cli
