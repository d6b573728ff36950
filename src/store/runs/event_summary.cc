#include "store/runs/event_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

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

using policy::EventKind;

// Takes events in order and keeps what has begun and not yet ended.
class Teller {
 public:
  void take(const RecordedEvent& event);
  [[nodiscard]] EventSummary finish();

 private:
  struct Reason {
    explicit Reason(const std::string& first) : text(first) {}

    MergedReason text;
    std::size_t times = 0;
    std::set<std::string> jobs;
    Duration in_all{};
  };
  struct DeedOf {
    MergedReason text;
    std::size_t place;  // in story_.deeds
  };
  void end_hold(Duration at);
  void end_pause(const std::string& job, Duration at);
  void note_deed(const RecordedEvent& event);
  void count(const RecordedEvent& event);

  EventSummary story_;
  std::map<std::string, Reason> reasons_;  // by without_numbers()
  std::set<std::string> running_;
  std::map<std::string, std::size_t> paused_;                  // job to its place in story_.pauses
  std::map<std::pair<EventKind, std::string>, DeedOf> deeds_;  // by kind and without_numbers()
  std::optional<std::string> holding_, held_job_;  // what holds now: the reason and the job
  Duration held_since_{};
};

void Teller::end_hold(Duration at) {
  if (holding_) reasons_.at(*holding_).in_all += at - held_since_;
  holding_.reset();
}

void Teller::end_pause(const std::string& job, Duration at) {
  const auto found = paused_.find(job);
  if (found == paused_.end()) return;
  Pause& pause = story_.pauses[found->second];
  pause.length = at - pause.at;
  paused_.erase(found);
}

void Teller::take(const RecordedEvent& event) {
  story_.end = std::max(story_.end, event.t);
  count(event);
  const bool of_held = holding_ && (held_job_->empty() || *held_job_ == event.job);
  switch (event.kind) {
    case EventKind::held: {
      end_hold(event.t);
      holding_ = without_numbers(event.reason);
      held_job_ = event.job;
      held_since_ = event.t;
      Reason& reason = reasons_.try_emplace(*holding_, event.reason).first->second;
      if (reason.times++ > 0) reason.text.add(event.reason);
      if (!event.job.empty()) reason.jobs.insert(event.job);
      break;
    }
    case EventKind::admitted:
    case EventKind::started:
    case EventKind::ended:
      if (of_held) end_hold(event.t);
      end_pause(event.job, event.t);
      break;
    case EventKind::frozen:
      end_pause(event.job, event.t);
      paused_[event.job] = story_.pauses.size();
      story_.pauses.push_back({.at = event.t, .job = event.job, .reason = event.reason});
      break;
    case EventKind::evicted:
    case EventKind::failed:
      story_.losses.push_back(
          {.at = event.t, .kind = event.kind, .job = event.job, .reason = event.reason});
      end_pause(event.job, event.t);
      break;
    case EventKind::thawed:
    case EventKind::requeued: end_pause(event.job, event.t); break;
    case EventKind::reclaimed:
    case EventKind::alarm:
    case EventKind::line: note_deed(event); break;
    case EventKind::queued: break;
  }
}

void Teller::count(const RecordedEvent& event) {
  if (event.kind == EventKind::started) running_.insert(event.job);
  if (event.kind == EventKind::ended || event.kind == EventKind::requeued) {
    running_.erase(event.job);
  }
  if (event.kind == EventKind::ended) ++story_.ended;
}

void Teller::note_deed(const RecordedEvent& event) {
  const auto [found, is_new] =
      deeds_.try_emplace(std::pair(event.kind, without_numbers(event.reason)),
                         DeedOf{MergedReason(event.reason), story_.deeds.size()});
  auto& [text, place] = found->second;
  if (is_new) {
    story_.deeds.push_back({.kind = event.kind, .reason = event.reason, .first = event.t});
  } else {
    text.add(event.reason);
  }
  Deed& deed = story_.deeds[place];
  ++deed.times;
  deed.last = event.t;
}

EventSummary Teller::finish() {
  end_hold(story_.end);
  story_.running.assign(running_.begin(), running_.end());
  for (const auto& [key, deed] : deeds_) {
    if (story_.deeds[deed.place].times > 1) story_.deeds[deed.place].reason = deed.text.text();
  }
  for (const auto& [key, reason] : reasons_) {
    story_.held.push_back({.reason = reason.text.text(),
                           .times = reason.times,
                           .jobs = reason.jobs.size(),
                           .in_all = reason.in_all});
  }
  std::sort(story_.held.begin(), story_.held.end(), [](const HeldFor& a, const HeldFor& b) {
    return std::tie(b.in_all, a.reason) < std::tie(a.in_all, b.reason);
  });
  return std::move(story_);
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

EventSummary event_summary_of(const std::vector<RecordedEvent>& events) {
  Teller teller;
  for (const RecordedEvent& event : events) teller.take(event);
  return teller.finish();
}

}  // namespace plimsoll::report
