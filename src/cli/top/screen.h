#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/top/layout.h"
#include "cli/top/model.h"

struct screen;  // ncurses'

namespace plimsoll::cli::top {

// Whether a terminal is there, on standard input and output, that is not said to be without a
// screen.
[[nodiscard]] bool has_screen();

// The whole terminal, through ncurses. While this lives the terminal has its other screen and gives
// keys as they are pressed; the destructor puts everything back.
class Screen {
 public:
  // Takes the characters of the locale of the environment.
  static Result<std::unique_ptr<Screen>> start();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // Sends what differs from what is there.
  void draw(const Frame& frame);

  // Keys that were pressed; none at the end of the input, which `is_over` tells.
  struct Input {
    std::vector<Key> keys{};
    bool is_over = false;
  };
  [[nodiscard]] Input read();

  // The terminal as it was, while this process is stopped; and back again, whatever was drawn there
  // meanwhile and however wide it is now.
  void leave();
  void come_back();
  // The window has another size.
  void resize();

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  [[nodiscard]] Glyphs glyphs() const { return glyphs_; }

 private:
  Screen(screen* of, Glyphs glyphs);

  screen* screen_;
  Glyphs glyphs_;
  bool has_colours_;
};

}  // namespace plimsoll::cli::top
