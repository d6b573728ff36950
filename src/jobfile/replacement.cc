#include "jobfile/replacement.h"

#include "base/text.h"

namespace plimsoll::jobfile {
namespace {

// Enough for any count of sources and columns, and far from overflowing.
constexpr std::size_t kPositionDigitsMax = 6;

std::optional<Part> parse_part(std::string_view text) {
  if (text.empty()) return Part::whole;
  if (text == ".") return Part::without_suffix;
  if (text == "/") return Part::base;
  if (text == "//") return Part::directory;
  if (text == "/.") return Part::base_sans_suffix;
  return std::nullopt;
}

// The suffix starts at the last dot of the last component, even if the name begins with it.
std::string_view without_suffix(std::string_view value) {
  const std::size_t at = value.find_last_of("./");
  return at == std::string_view::npos || value[at] == '/' ? value : value.substr(0, at);
}

std::string_view base(std::string_view value) {
  const std::size_t slash = value.rfind('/');
  return slash == std::string_view::npos ? value : value.substr(slash + 1);
}

std::string_view without_slashes_at_end(std::string_view value) {
  const std::size_t last = value.find_last_not_of('/');
  return last == std::string_view::npos ? value.substr(0, 1) : value.substr(0, last + 1);
}

// As dirname(1).
std::string_view directory(std::string_view value) {
  value = without_slashes_at_end(value);
  const std::size_t slash = value.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return without_slashes_at_end(value.substr(0, slash + 1));
}

}  // namespace

std::optional<Replacement> parse_replacement(std::string_view inside,
                                             std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || !inside.starts_with(names[i])) continue;
    if (const auto part = parse_part(inside.substr(names[i].size()))) {
      return Replacement{Replacement::What::one, *part, static_cast<int>(i) + 1};
    }
  }
  if (inside == "#") return Replacement{.what = Replacement::What::sequence};
  if (inside == "%") return Replacement{.what = Replacement::What::slot};
  const std::size_t sign = inside.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(inside.find_first_not_of("0123456789", sign), inside.size());
  const auto part = parse_part(inside.substr(end));
  if (!part) return std::nullopt;
  if (end == 0) return Replacement{.what = Replacement::What::all, .part = *part};
  const std::size_t digits = end - sign;
  const auto number = to_u64(inside.substr(sign, digits));
  if (!number || *number == 0 || digits > kPositionDigitsMax) return std::nullopt;
  const int position = static_cast<int>(*number);
  return Replacement{Replacement::What::one, *part, sign == 0 ? position : -position};
}

std::string_view part_of(std::string_view value, Part part) {
  switch (part) {
    case Part::whole: return value;
    case Part::without_suffix: return without_suffix(value);
    case Part::base: return base(value);
    case Part::directory: return directory(value);
    case Part::base_sans_suffix: return without_suffix(base(value));
  }
  return {};
}

std::optional<std::size_t> index_of(int position, std::size_t count) {
  const auto distance = static_cast<std::size_t>(position < 0 ? -position : position);
  if (distance == 0 || distance > count) return std::nullopt;
  return position < 0 ? count - distance : distance - 1;
}

}  // namespace plimsoll::jobfile
