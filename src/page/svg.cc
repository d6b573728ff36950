#include "page/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "page/canvas.h"
#include "page/drawing.h"
#include "page/palette.h"
#include "page/stack.h"
#include "policy/job/event.h"

namespace plimsoll::page {
namespace {

constexpr double kLanesHeight = 460, kLaneMax = 18, kLaneMin = 3;
constexpr double kMemoryHeight = 240;

// Groups of classes: those with a colour of their own, and at the end the others together.
struct Groups {
  std::vector<LegendEntry> entries;
  std::map<std::string, std::size_t, std::less<>> places;

  explicit Groups(const Drawing& drawing) {
    for (std::size_t i = 0; i < drawing.classes.size(); ++i) {
      const std::string& name = drawing.classes[i];
      const std::size_t place = std::min(i, kClassColours.size());
      places.emplace(name, place);
      if (place < entries.size()) continue;
      const bool is_others = place == kClassColours.size();
      const std::string known = name.empty() ? "class not known" : name;
      entries.push_back({.name = is_others ? "other classes" : known, .colour = colour_of(place)});
    }
  }
};

void draw_attempt(Canvas& canvas, const DrawnAttempt& attempt, std::string_view colour,
                  double lane) {
  const double gap = lane > 6 ? 2 : 0.5;
  const Box box{.left = canvas.x_of(attempt.start),
                .top = canvas.top() + static_cast<double>(attempt.lane) * lane + gap,
                .right = std::max(canvas.x_of(attempt.end), canvas.x_of(attempt.start) + 1),
                .height = lane - 2 * gap};
  canvas.bar(box, colour);
  for (const DrawnPause& pause : attempt.pauses) {
    Box gone = box;
    gone.left = canvas.x_of(pause.start);
    gone.right = canvas.x_of(pause.end);
    if (gone.right - gone.left >= 1) canvas.outline(gone, colour);
  }
  if (!attempt.is_bad) return;
  Box mark = box;
  mark.left = std::max(box.left, box.right - 4);
  canvas.mark(mark, attempt.is_evicted ? Mark::evicted : Mark::failed);
}

std::string timeline_svg(const Record& record, const Drawing& drawing) {
  const Groups groups(drawing);
  const double lane =
      std::clamp(kLanesHeight / static_cast<double>(std::max<std::size_t>(drawing.lanes, 1)),
                 kLaneMin, kLaneMax);
  std::vector<LegendEntry> legend = groups.entries;
  legend.push_back({.name = "paused", .sign = Sign::paused});
  legend.push_back({.name = "evicted", .sign = Sign::evicted});
  legend.push_back({.name = "failed", .sign = Sign::failed});
  Canvas canvas({.title = "Attempts of jobs over time",
                 .legend = std::move(legend),
                 .height = std::max(lane * static_cast<double>(drawing.lanes), kLaneMax),
                 .end = drawing.end});
  std::vector<double> painted(drawing.lanes, -1);  // the pixel at which the last bar ended
  for (const DrawnAttempt& attempt : drawing.attempts) {
    const double left = std::floor(canvas.x_of(attempt.start));
    const double right = std::floor(canvas.x_of(attempt.end));
    // Bars below a pixel are drawn once for each pixel.
    if (!attempt.is_bad && left == right && left == painted[attempt.lane]) continue;
    painted[attempt.lane] = right;
    const std::size_t group = groups.places.find(record.jobs[attempt.job].job_class)->second;
    draw_attempt(canvas, attempt, colour_of(group), lane);
  }
  return canvas.finish();
}

std::string memory_svg(const Record& record, const Drawing& drawing) {
  const Groups groups(drawing);
  const Levels line = levels_of(record, "line_bytes"), used = levels_of(record, "used_bytes");
  const auto sums = stacked_memory(
      record, drawing,
      {.points = static_cast<std::size_t>(kPlotWidth), .groups = groups.entries.size()});
  double most = 1;
  for (const Levels* levels : {&line, &used}) {
    for (const auto& [t, value] : *levels) most = std::max(most, value);
  }
  if (!sums.empty()) most = std::max(most, *std::ranges::max_element(sums.front()));
  constexpr double kRoom = 1.05;
  Canvas canvas({.title = "Memory of the jobs over time",
                 .legend = groups.entries,
                 .height = kMemoryHeight,
                 .end = drawing.end,
                 .bytes_most = most * kRoom});
  canvas.byte_axis();
  for (std::size_t i = 0; i < sums.size(); ++i) canvas.area(sums[i], colour_of(i));
  canvas.steps(used, Stroke::thin);
  canvas.steps(line, Stroke::thick);
  for (const report::RecordedEvent& event : record.events) {
    if (event.kind == policy::EventKind::alarm) canvas.alarm(event.t);
  }
  return canvas.finish();
}

}  // namespace

std::string svg_of(const Record& record, Picture picture) {
  const Drawing drawing = drawing_of(record);
  switch (picture) {
    case Picture::timeline: return timeline_svg(record, drawing);
    case Picture::memory: return memory_svg(record, drawing);
  }
  return {};
}

}  // namespace plimsoll::page
