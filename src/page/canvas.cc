#include "page/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/quantity.h"
#include "report/plain.h"

namespace plimsoll::page {
namespace {

constexpr double kGutter = 64, kRight = 8, kAxisHeight = 22, kRow = 20, kSwatch = 11;
constexpr double kLetter = 6.6;  // the mean width of a letter of 12 pixels, rather too wide
constexpr std::size_t kNameMax = 40;

// As page/src/style.css has them.
constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#5b646d}"
    ".grid{stroke:#e4e7ea}.paper{fill:#fff}.bad{fill:#c5221f}.ink{fill:#1c2126}"
    ".line{fill:none;stroke:#0b3d66;stroke-width:3}.used{fill:none;stroke:#1c2126}"
    "@media(prefers-color-scheme:dark){text{fill:#98a2ab}.grid{stroke:#2b3238}"
    ".paper{fill:#15191d}.bad{fill:#ff6b64}.ink{fill:#e4e8eb}.line{stroke:#a9d1f5}"
    ".used{stroke:#e4e8eb}}";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : report::fitted(report::printable(text), kNameMax)) {
    switch (letter) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += letter;
    }
  }
  return safe;
}

// Even steps of which some six go into `most`.
double step_of(double most, std::initializer_list<double> factors) {
  constexpr double kSteps = 6;
  const double rough = most / kSteps, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : factors) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

double seconds_step(double end) {
  constexpr double kMinute = 60, kHour = 3600;
  for (const double step : {1.0, 2.0, 5.0, 10.0, 15.0, 30.0, kMinute, 2 * kMinute, 5 * kMinute,
                            10 * kMinute, 15 * kMinute, 30 * kMinute, kHour}) {
    if (end > 6 && end / step <= 10) return step;
  }
  return end > 6 ? step_of(end / kHour, {1, 2, 5}) * kHour : step_of(end, {1, 2, 5});
}

// "0:42", "1:02:03"; "0.25 s" where steps are shorter than a second.
std::string clock_text(double seconds, double step) {
  if (step < 1) return fmt::format("{:g} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

template <class... Values>
void put(std::string& body, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(body), format, std::forward<Values>(values)...);
}

}  // namespace

Canvas::Canvas(Frame frame) : frame_(std::move(frame)) {
  legend();
  time_axis();
}

double Canvas::x_of(Duration t) const {
  if (frame_.end <= Duration{}) return kGutter;
  return kGutter + to_seconds(t) / to_seconds(frame_.end) * kPlotWidth;
}

double Canvas::y_of(double bytes) const {
  return top_ + frame_.height * (1 - bytes / frame_.bytes_most);
}

void Canvas::legend() {
  double x = kGutter, y = 4;
  for (const LegendEntry& entry : frame_.legend) {
    const std::string name = escaped(entry.name);
    const double width = kSwatch + 22 +
                         kLetter * static_cast<double>(report::columns_of(
                                       report::fitted(report::printable(entry.name), kNameMax)));
    if (x > kGutter && x + width > kGutter + kPlotWidth) {
      x = kGutter;
      y += kRow;
    }
    const Box box{.left = x, .top = y, .right = x + kSwatch, .height = kSwatch};
    switch (entry.sign) {
      case Sign::swatch: bar(box, entry.colour); break;
      case Sign::paused: outline(box, "#83898f"); break;
      case Sign::evicted:
      case Sign::failed: {
        bar(box, "#83898f");
        const Box edge{.left = box.right - 4, .top = y, .right = box.right, .height = kSwatch};
        mark(edge, entry.sign == Sign::evicted ? Mark::evicted : Mark::failed);
        break;
      }
    }
    put(body_, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + kSwatch + 6, y + 10, name);
    x += width;
  }
  top_ = y + kRow + 4;
}

void Canvas::time_axis() {
  const double end = to_seconds(frame_.end), bottom = top_ + frame_.height;
  if (end <= 0) return;
  const double step = seconds_step(end);
  constexpr double kClose = 1e-9;  // what rounding may add
  for (int i = 0; i * step <= end * (1 + kClose); ++i) {
    const double x = kGutter + i * step / end * kPlotWidth;
    put(body_, "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x, top_, bottom);
    put(body_, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, bottom + 16,
        i == 0                          ? "start"
        : x > kGutter + kPlotWidth - 20 ? "end"
                                        : "middle",
        clock_text(i * step, step));
  }
}

void Canvas::byte_axis() {
  constexpr double kUnitDigits = 10;  // binary
  const double unit = std::exp2(
      kUnitDigits * std::floor(std::log2(std::max(frame_.bytes_most, 1.0)) / kUnitDigits));
  const double step = step_of(frame_.bytes_most / unit, {1, 2, 5}) * unit;
  for (int i = 0; i * step <= frame_.bytes_most; ++i) {
    const double y = y_of(i * step);
    put(body_, "<path class=\"grid\" d=\"M{:.1f} {:.1f}h{:.1f}\"/>\n", kGutter, y, kPlotWidth);
    put(body_, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kGutter - 6,
        y + 4, format_bytes(to_bytes(i * step)));
  }
}

void Canvas::bar(const Box& box, std::string_view colour) {
  put(body_, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
      box.left, box.top, box.right - box.left, box.height, colour);
}

void Canvas::outline(const Box& box, std::string_view colour) {
  constexpr double kInset = 0.5;  // so that the stroke is within
  put(body_,
      "<rect class=\"paper\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "stroke=\"{}\" stroke-dasharray=\"3 2\"/>\n",
      box.left + kInset, box.top + kInset, std::max(box.right - box.left - 1, 0.0),
      std::max(box.height - 1, 0.0), colour);
}

void Canvas::mark(const Box& box, Mark mark) {
  put(body_, "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      mark == Mark::evicted ? "bad" : "ink", box.left, box.top, box.right - box.left, box.height);
}

void Canvas::area(const std::vector<double>& bytes, std::string_view colour) {
  const double bottom = top_ + frame_.height;
  const double step = kPlotWidth / static_cast<double>(std::max<std::size_t>(bytes.size(), 2) - 1);
  put(body_, "<path fill=\"{}\" d=\"M{:.1f} {:.1f}", colour, kGutter, bottom);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(body_, "L{:.1f} {:.1f}", kGutter + static_cast<double>(i) * step, y_of(bytes[i]));
  }
  put(body_, "V{:.1f}z\"/>\n", bottom);
}

void Canvas::steps(const Levels& levels, Stroke stroke) {
  if (levels.empty()) return;
  put(body_, "<path class=\"{}\" d=\"M{:.1f} {:.1f}", stroke == Stroke::thick ? "line" : "used",
      x_of(levels.front().first), y_of(levels.front().second));
  for (const auto& [t, value] : levels) put(body_, "H{:.1f}V{:.1f}", x_of(t), y_of(value));
  put(body_, "H{:.1f}\"/>\n", kGutter + kPlotWidth);
}

void Canvas::alarm(Duration t) {
  put(body_, "<path class=\"bad\" d=\"M{:.1f} {:.1f}h10l-5 7z\"/>\n", x_of(t) - 5, top_);
}

std::string Canvas::finish() {
  const double width = kGutter + kPlotWidth + kRight;
  const double height = top_ + frame_.height + kAxisHeight;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" "
             "width=\"{0:g}\" height=\"{1:g}\" role=\"img\">\n<title>{2}</title>\n"
             "<style>{3}</style>\n",
             width, height, escaped(frame_.title), kStyle) +
         std::exchange(body_, {}) + "</svg>\n";
}

}  // namespace plimsoll::page
