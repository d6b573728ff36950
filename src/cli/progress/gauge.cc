#include "cli/progress/gauge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "report/plain.h"

namespace plimsoll::cli {
namespace {

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::plain: return "";
    case Tone::strong: return "\x1b[1m";
    case Tone::faint: return "\x1b[2m";
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
  }
  return "";
}

template <class... Arguments>
std::string print(const char* format, Arguments... arguments) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

std::string repeated(const char* glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

constexpr long long kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;

}  // namespace

void TintedLine::add(std::string_view text, Tone tone) {
  std::string fitting = report::fitted(text, room());
  if (fitting.empty()) return;
  columns_ += report::columns_of(fitting);
  spans_.push_back({std::move(fitting), tone});
}

void TintedLine::pad_to(std::size_t column) {
  const std::size_t end = std::min(column, width_);
  if (end <= columns_) return;
  spans_.push_back({std::string(end - columns_, ' '), Tone::plain});
  columns_ = end;
}

std::string TintedLine::text() const {
  std::string text;
  for (const Span& span : spans_) {
    const bool tinted = colour_ == report::Colour::ansi && span.tone != Tone::plain;
    if (tinted) text += code_of(span.tone);
    text += span.text;
    if (tinted) text += "\x1b[0m";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void add_gauge(TintedLine& line, double share, std::size_t width, Tone tone, Glyphs glyphs) {
  if (width < kGaugeMin || line.room() < width) return;
  const bool unicode = glyphs == Glyphs::unicode;
  const std::size_t cells = unicode ? width : width - 2;  // brackets
  const double bounded = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0);
  const auto halves =
      static_cast<std::size_t>(std::floor(bounded * 2 * static_cast<double>(cells)));
  const std::size_t full = halves / 2;
  if (!unicode) {
    line.add("[");
    line.add(std::string(full, '#'), tone);
    line.add(std::string(cells - full, '.'), Tone::faint);
    return line.add("]");
  }
  const bool half = halves % 2 == 1;
  line.add(repeated("\u2501", full) + (half ? "\u2578" : ""), tone);
  line.add(repeated("\u2500", cells - full - (half ? 1 : 0)), Tone::faint);
}

std::string clock_text(Duration duration) {
  const long long all =
      std::max<long long>(0, std::chrono::floor<std::chrono::seconds>(duration).count());
  if (all >= kDay) return print("%lldd%02lldh", all / kDay, all % kDay / kHour);
  if (all >= kHour) {
    return print("%lld:%02lld:%02lld", all / kHour, all % kHour / kMinute, all % kMinute);
  }
  return print("%lld:%02lld", all / kMinute, all % kMinute);
}

std::string rough_text(Duration duration) {
  const auto rounded = [](long long value, long long step) {
    return (value + step / 2) / step * step;
  };
  constexpr long long kFine = 5, kCoarse = 10;
  const long long all =
      std::max<long long>(0, std::chrono::ceil<std::chrono::seconds>(duration).count());
  if (all < kMinute) return print("%lld s", std::max(kFine, rounded(all, kFine)));
  if (all < 2 * kMinute) return print("%lld s", rounded(all, kCoarse));
  if (all < kHour) return print("%lld min", rounded(all, kMinute) / kMinute);
  const long long minutes = rounded(all, kCoarse * kMinute) / kMinute;
  if (all >= kDay) return print("%lld h", minutes / kMinute);
  const long long rest = minutes % kMinute;
  return print("%lld h", minutes / kMinute) + (rest > 0 ? print(" %lld min", rest) : "");
}

}  // namespace plimsoll::cli
