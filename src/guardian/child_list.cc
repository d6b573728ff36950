#include "guardian/child_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::guardian {
namespace {

// A read gives no more than the kernel has put into a page of its own.
constexpr std::size_t kReadBytes = 64 << 10;

std::string text_of(pid_t pid) { return std::to_string(pid) + " "; }

// Of some thousands: 2 ms.
constexpr std::size_t kFirstBytes = 16 << 10;
constexpr std::size_t kNoLimit = std::string::npos;

// The list of a thread from there on, or about as much of it as `most`; nothing where it can't be
// read.
std::optional<std::string> read_list(const std::string& thread, std::size_t offset,
                                     std::size_t most) {
  const auto file = open_at(AT_FDCWD, "/proc/self/task/" + thread + "/children", O_RDONLY);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, kReadBytes> part;
  while (text.size() < most) {
    const ssize_t got =
        ::pread(file->get(), part.data(), part.size(), static_cast<off_t>(offset + text.size()));
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// That of the first thread.
std::optional<std::string> read_from(std::size_t offset, std::size_t most = kNoLimit) {
  return read_list(std::to_string(::getpid()), offset, most);
}

std::vector<pid_t> parse(std::string_view text) {
  std::vector<pid_t> pids;
  for (std::string_view rest = trim(text); !rest.empty();) {
    if (const auto pid = to_u64(take_until(rest, ' '))) pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

}  // namespace

std::vector<pid_t> ChildList::take_new() {
  if (const auto text = read_after_known()) return add(parse(*text));
  const auto text = read_from(0);
  if (!text) return {};
  order_.clear();
  size_ = 0;
  const std::unordered_set<pid_t> before = std::exchange(known_, {});
  std::vector<pid_t> found = add(parse(*text));
  std::erase_if(found, [&before](pid_t pid) { return before.contains(pid); });
  return found;
}

// Nothing: they are not where they should be.
std::optional<std::string> ChildList::read_after_known() {
  drop_ended();
  if (order_.empty()) return std::nullopt;
  std::string last = text_of(order_.back());
  if (size_ > last.size()) last.insert(0, " ");  // that of the one before
  auto text = read_from(size_ - std::min(size_, last.size()));
  if (!text || !text->starts_with(last)) return std::nullopt;
  return text->substr(last.size());
}

std::vector<pid_t> ChildList::add(std::vector<pid_t> those) {
  for (const pid_t pid : those) {
    order_.push_back(pid);
    known_.insert(pid);
    size_ += text_of(pid).size();
  }
  return those;
}

void ChildList::ended(pid_t child) {
  if (known_.erase(child) != 0) size_ -= text_of(child).size();
}

void ChildList::drop_ended() {
  while (!order_.empty() && !known_.contains(order_.back())) order_.pop_back();
  if (order_.size() > 2 * known_.size()) {
    std::erase_if(order_, [this](pid_t pid) { return !known_.contains(pid); });
  }
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code unread;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", unread)) {
    const auto text = read_list(thread.path().filename(), 0, kNoLimit);
    if (!text) continue;
    const std::vector<pid_t> its = parse(*text);
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::optional<FirstChildren> first_children() {
  auto text = read_from(0, kFirstBytes);
  if (!text) return std::nullopt;
  const bool are_all = text->size() < kFirstBytes;
  if (!are_all) text->resize(text->rfind(' ') + 1);  // the kernel's page may end within an entry
  return FirstChildren{parse(*text), are_all};
}

}  // namespace plimsoll::guardian
