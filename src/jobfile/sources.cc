#include "jobfile/sources.h"

#include <optional>
#include <string_view>

namespace plimsoll::jobfile {
namespace {

struct Marker {
  std::string_view text;
  SourceSpec::Kind kind{};
  Joining joining{};
};

std::optional<Marker> marker_of(std::string_view word) {
  using Kind = SourceSpec::Kind;
  for (const Marker& marker :
       {Marker{":::", Kind::words, Joining::crossed}, Marker{":::+", Kind::words, Joining::linked},
        Marker{"::::", Kind::file, Joining::crossed},
        Marker{"::::+", Kind::file, Joining::linked}}) {
    if (word == marker.text) return marker;
  }
  return std::nullopt;
}

// The words up to the next marker, cut off the front of `words`.
std::vector<std::string> take_values(std::span<const std::string>& words) {
  std::vector<std::string> values;
  for (; !words.empty() && !marker_of(words.front()); words = words.subspan(1)) {
    values.push_back(words.front());
  }
  return values;
}

}  // namespace

bool is_source_marker(std::string_view word) { return marker_of(word).has_value(); }

Result<BatchWords> split_batch_words(std::span<const std::string> words,
                                     std::span<const std::string> argument_files) {
  BatchWords result;
  for (const std::string& file : argument_files) {
    result.sources.push_back({.kind = SourceSpec::Kind::file, .file = file});
  }
  result.command = take_values(words);
  while (!words.empty()) {
    const Marker marker = *marker_of(words.front());
    words = words.subspan(1);
    if (marker.joining == Joining::linked && result.sources.empty()) {
      return fail("found " + std::string(marker.text) +
                  " as the first source, expected a source before it to link it with");
    }
    std::vector<std::string> values = take_values(words);
    if (marker.kind == SourceSpec::Kind::words) {
      result.sources.push_back(
          {.kind = marker.kind, .joining = marker.joining, .words = std::move(values)});
      continue;
    }
    if (values.empty()) {
      return fail("found " + std::string(marker.text) + " without a file, expected at least one");
    }
    for (std::string& file : values) {
      result.sources.push_back(
          {.kind = marker.kind, .joining = marker.joining, .file = std::move(file)});
    }
  }
  return result;
}

}  // namespace plimsoll::jobfile
