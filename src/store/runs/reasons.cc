#include "store/runs/reasons.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace plimsoll::report {
namespace {

constexpr const char* kAnyNumber = "...";

struct SpokenUnit {
  std::string_view name;
  double factor;
};

// Those that change with the size of what they count.
constexpr std::array<SpokenUnit, 13> kSpokenUnits = {{{"B", 1},
                                                      {"KiB", 1024},
                                                      {"MiB", 1024.0 * 1024},
                                                      {"GiB", 1024.0 * 1024 * 1024},
                                                      {"TiB", 1024.0 * 1024 * 1024 * 1024},
                                                      {"%", 1},
                                                      {"ns", 1e-9},
                                                      {"us", 1e-6},
                                                      {"ms", 1e-3},
                                                      {"s", 1},
                                                      {"m", 60},
                                                      {"h", 3600},
                                                      {"cores", 1}}};

const SpokenUnit* unit_of(std::string_view word) {
  const auto* found = std::ranges::find(kSpokenUnits, word, &SpokenUnit::name);
  return found == kSpokenUnits.end() ? nullptr : found;
}

// Where the punctuation at the end of a word begins.
std::size_t bare_size(std::string_view word) { return word.find_last_not_of(",;:.)") + 1; }

// "2.5", "80%", "2m03s"; nothing for other text.
std::optional<double> size_of(std::string_view text) {
  double sum = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = to_double(text.substr(0, digits));
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const SpokenUnit* const unit = unit_of(text.substr(0, letters));
    if (!number || (letters > 0 && unit == nullptr)) return std::nullopt;
    sum += *number * (unit == nullptr ? 1 : unit->factor);
    text.remove_prefix(letters);
  }
  return sum;
}

std::string joined(const std::string& number, const std::string& unit) {
  return unit.empty() ? number : number + ' ' + unit;
}

}  // namespace

std::vector<MergedReason::Part> MergedReason::parts_of(std::string_view reason) {
  std::vector<Part> parts;
  while (!reason.empty()) {
    const std::string_view word = take_until(reason, ' ');
    if (word.empty()) continue;
    const std::string_view bare = word.substr(0, bare_size(word));
    const SpokenUnit* const unit = unit_of(bare);
    if (unit != nullptr && !parts.empty() && parts.back().is_number &&
        parts.back().punctuation.empty() && parts.back().unit.empty()) {
      Part& number = parts.back();
      number.unit = bare;
      number.punctuation = word.substr(bare.size());
      if (number.least) number.least = number.greatest = *number.least * unit->factor;
      continue;
    }
    Part part;
    part.is_number = is_digit(word.front());
    part.text = part.is_number ? bare : word;
    if (part.is_number) {
      part.punctuation = word.substr(bare.size());
      part.least = part.greatest = size_of(bare);
      part.least_text = part.greatest_text = part.text;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

MergedReason::MergedReason(std::string_view reason) : parts_(parts_of(reason)) {
  for (Part& part : parts_) {
    part.least_text = part.greatest_text = joined(part.text, part.unit);
  }
}

void MergedReason::add(std::string_view reason) {
  const std::vector<Part> others = parts_of(reason);
  for (std::size_t i = 0; i < std::min(parts_.size(), others.size()); ++i) {
    Part& part = parts_[i];
    const Part& other = others[i];
    if (!part.is_number || (other.text == part.text && other.unit == part.unit)) continue;
    part.differs = true;
    if (part.unit != other.unit) part.unit.clear();
    if (!part.least || !other.least) {
      part.least.reset();
      continue;
    }
    if (*other.least < *part.least) {
      part.least = other.least;
      part.least_text = joined(other.text, other.unit);
    }
    if (*other.least > *part.greatest) {
      part.greatest = other.least;
      part.greatest_text = joined(other.text, other.unit);
    }
  }
}

std::string MergedReason::text() const {
  std::string text;
  for (const Part& part : parts_) {
    if (!text.empty()) text += ' ';
    if (!part.is_number) {
      text += part.text;
    } else if (!part.differs) {
      text += part.greatest_text + part.punctuation;
    } else if (!part.least) {
      text += kAnyNumber + part.punctuation;
    } else {
      std::string_view least = part.least_text;
      if (!part.unit.empty()) least.remove_suffix(part.unit.size() + 1);
      text.append(least) += " to " + part.greatest_text + part.punctuation;
    }
  }
  return text;
}

std::string without_numbers(std::string_view reason) {
  std::string text;
  for (const MergedReason::Part& part : MergedReason::parts_of(reason)) {
    if (!text.empty()) text += ' ';
    text += part.is_number ? kAnyNumber + part.punctuation : part.text;
  }
  return text;
}

}  // namespace plimsoll::report
