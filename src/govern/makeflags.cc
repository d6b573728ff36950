#include "govern/makeflags.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace plimsoll::govern {
namespace {

using std::string_view;

// What follows is no option but a variable of make's command line.
constexpr string_view kVariables = "--";

bool is_jobserver(string_view word) {
  return word.starts_with("--jobserver-auth=") || word.starts_with("--jobserver-fds=");
}

// -j, -j8, or -j among other letters that take no value: -kj8.
bool is_number_of_jobs(string_view word) {
  if (word == "--jobs" || word.starts_with("--jobs=")) return true;
  if (word == "--parallel" || word.starts_with("--parallel=")) return true;
  if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
  const std::size_t at = word.find('j');
  if (at == string_view::npos) return false;
  constexpr string_view kPlainLetters = "BeikKnqrRsSvw";
  const string_view before = word.substr(1, at - 1);
  const string_view after = word.substr(at + 1);
  return before.find_first_not_of(kPlainLetters) == string_view::npos &&
         after.find_first_not_of("0123456789") == string_view::npos;
}

bool any_names_jobs(string_view text) {
  constexpr string_view kBetween = " \t\n;&|()";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    if (is_number_of_jobs(text.substr(0, end))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

MakeJobs jobs_in_makeflags(string_view makeflags) {
  MakeJobs found = MakeJobs::nothing;
  bool is_first = true;
  while (!makeflags.empty()) {
    const string_view word = take_until(makeflags, ' ');
    if (word.empty()) continue;
    if (word == kVariables) break;
    if (is_jobserver(word)) return MakeJobs::jobserver;
    if (is_number_of_jobs(word)) found = MakeJobs::number;
    // The first may be letters without a dash: "kj8".
    const bool is_letters = std::exchange(is_first, false) && word.find('=') == string_view::npos;
    if (is_letters && is_number_of_jobs("-" + std::string(word))) found = MakeJobs::number;
  }
  return found;
}

std::string with_jobserver(string_view makeflags, string_view auth, std::size_t slots) {
  // The first word is one of letters unless it begins with a dash, so that an option never is the
  // first.
  const std::string options =
      " -j" + std::to_string(slots) + " --jobserver-auth=" + std::string(auth);
  std::size_t end = 0;  // of what stands before variables
  for (string_view rest = makeflags; !rest.empty();) {
    const string_view word = take_until(rest, ' ');
    if (word == kVariables) break;
    end = static_cast<std::size_t>(word.data() + word.size() - makeflags.data());
  }
  const string_view after = makeflags.substr(end);
  const bool is_apart = after.empty() || after.front() == ' ';
  return std::string(makeflags.substr(0, end)) + options + (is_apart ? "" : " ") +
         std::string(after);
}

bool names_jobs(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return any_names_jobs(word); });
}

}  // namespace plimsoll::govern
