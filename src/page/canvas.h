#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "page/stack.h"

// A picture over time as SVG: a legend, an axis of time, and what is put between them.
namespace plimsoll::page {

inline constexpr double kPlotWidth = 888;  // pixels

enum class Sign : std::uint8_t { swatch, paused, evicted, failed };
struct LegendEntry {
  std::string name{};
  std::string_view colour{};  // of a swatch
  Sign sign = Sign::swatch;
};

struct Frame {
  std::string title{};  // what is read aloud
  std::vector<LegendEntry> legend{};
  double height = 0;      // of the plot, in pixels
  Duration end{};         // time begins at 0
  double bytes_most = 0;  // at the top, where bytes are drawn
};

struct Box {
  double left = 0, top = 0, right = 0, height = 0;
};

enum class Mark : std::uint8_t { evicted, failed };
enum class Stroke : std::uint8_t { thin, thick };

class Canvas {
 public:
  explicit Canvas(Frame frame);

  [[nodiscard]] double x_of(Duration t) const;
  [[nodiscard]] double top() const { return top_; }

  void bar(const Box& box, std::string_view colour);
  void outline(const Box& box, std::string_view colour);  // on the ground's own colour
  void mark(const Box& box, Mark mark);
  void area(const std::vector<double>& bytes, std::string_view colour);  // of equal distance
  void steps(const Levels& levels, Stroke stroke);
  void alarm(Duration t);
  void byte_axis();
  // The whole document. The canvas is then empty.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] double y_of(double bytes) const;
  void legend();
  void time_axis();

  const Frame frame_;
  double top_ = 0;
  std::string body_;
};

}  // namespace plimsoll::page
