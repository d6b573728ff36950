#include "kernel/procfs/env_tag.h"

#include <limits>
#include <vector>

#include "base/text.h"

namespace plimsoll::procfs {
namespace {

std::vector<std::string_view> words(std::string_view value) {
  std::vector<std::string_view> found;
  while (!value.empty()) {
    const std::string_view word = take_until(value, ' ');
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

std::string to_text(const Id& id) {
  return std::to_string(id.pid) + "." + std::to_string(id.start);
}

std::optional<Id> parse_id(std::string_view text) {
  const auto pid = to_u64(take_until(text, '.'));
  const auto start = to_u64(text);
  if (!pid || !start || *pid == 0 || *pid > std::numeric_limits<int>::max()) return std::nullopt;
  return Id{.pid = static_cast<int>(*pid), .start = *start};
}

}  // namespace

std::string to_text(const EnvTag& mark) {
  return mark.run + "/" + std::to_string(mark.space) + "/" + to_text(mark.guardian) + "/" +
         to_text(mark.supervisor) + "/" + mark.job;
}

std::optional<EnvTag> parse_tag(std::string_view word) {
  const std::string_view run = take_until(word, '/');
  const auto space = to_u64(take_until(word, '/'));
  const auto guardian = parse_id(take_until(word, '/'));
  const auto supervisor = parse_id(take_until(word, '/'));
  const bool is_plain = !word.empty() && word.find('/') == std::string_view::npos;
  if (run.empty() || !space || !guardian || !supervisor || !is_plain) return std::nullopt;
  return EnvTag{.run = std::string(run),
                .space = *space,
                .guardian = *guardian,
                .supervisor = *supervisor,
                .job = std::string(word)};
}

std::string with_tag(std::string_view inherited, const EnvTag& mark) {
  std::vector<std::string_view> marks = words(inherited);
  if (marks.size() >= kMarksMax) {
    marks.erase(marks.begin(), marks.end() - static_cast<std::ptrdiff_t>(kMarksMax - 1));
  }
  std::string value;
  for (const std::string_view word : marks) value.append(word).append(" ");
  return value + to_text(mark);
}

std::optional<EnvTag> find_mark(std::string_view value, std::string_view run) {
  for (const std::string_view word : words(value)) {
    auto mark = parse_tag(word);
    if (mark && mark->run == run) return mark;
  }
  return std::nullopt;
}

std::optional<EnvTag> last_mark(std::string_view value) {
  const auto marks = words(value);
  return marks.empty() ? std::nullopt : parse_tag(marks.back());
}

}  // namespace plimsoll::procfs
