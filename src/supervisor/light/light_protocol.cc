#include "supervisor/light/light_protocol.h"

#include <algorithm>
#include <utility>

#include "base/cases.h"
#include "base/text.h"

namespace plimsoll::supervisor {
namespace {

enum class Kind : std::uint8_t {
  enter = 1,
  again = 2,
  over = 3,
  held = 64,
  admitted = 65,
  cancelled = 66,
  refused = 67,
};

constexpr int kByteBits = 8;
constexpr std::uint64_t kByteMask = 0xff;
// So long a duration can be told in nanoseconds.
constexpr std::uint64_t kNanosecondsMax = INT64_MAX;

class FrameWriter {
 public:
  explicit FrameWriter(Kind kind) {
    number(kLightVersion, 1);
    number(static_cast<std::uint64_t>(kind), 1);
  }
  FrameWriter& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      text_ += static_cast<char>((value >> (i * kByteBits)) & kByteMask);
    }
    return *this;
  }
  FrameWriter& text(std::string_view value) {
    const std::string_view cut = value.substr(0, kLightTextMax);
    number(cut.size(), 2);
    text_ += cut;
    return *this;
  }
  std::string finish() && { return std::move(text_); }

 private:
  std::string text_;
};

// Reads on after a fault, and gives zeros: is_whole() is asked once, at the end.
class FrameReader {
 public:
  explicit FrameReader(std::string_view frame) : rest_(frame) {}

  std::uint64_t number(int bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    if (rest_.size() < size) {
      is_short_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::uint8_t>(rest_[static_cast<std::size_t>(i)]);
      value |= std::uint64_t{byte} << (i * kByteBits);
    }
    rest_.remove_prefix(size);
    return value;
  }
  std::string text() {
    const std::size_t size = number(2);
    if (size > kLightTextMax || size > rest_.size()) {
      is_short_ = true;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  bool flag() {
    const std::uint64_t value = number(1);
    if (value > 1) is_short_ = true;
    return value == 1;
  }
  [[nodiscard]] bool is_whole() const { return !is_short_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_short_ = false;
};

std::string enter_frame(const LightEnter& enter) {
  FrameWriter frame(Kind::enter);
  frame.number(enter.restartable ? 1 : 0, 1);
  frame.number(enter.memory_hint ? 1 : 0, 1).number(enter.memory_hint.value_or(Bytes{}).count, 8);
  frame.text(enter.job_class).text(enter.cwd.size() <= kLightTextMax ? enter.cwd : std::string());
  std::size_t count = 0, bytes = 0;
  for (const std::string& word : enter.words) {
    bytes += std::min(word.size(), kLightTextMax);
    if (count == kLightWordsMax || bytes > kLightWordBytesMax) break;
    ++count;
  }
  frame.number(count, 2);
  for (std::size_t i = 0; i < count; ++i) frame.text(enter.words[i]);
  return std::move(frame).finish();
}

Result<LightRequest> read_enter(FrameReader& frame) {
  LightEnter enter;
  enter.restartable = frame.flag();
  const bool has_hint = frame.flag();
  const std::uint64_t hint = frame.number(8);
  if (has_hint) enter.memory_hint = Bytes{hint};
  enter.job_class = frame.text();
  enter.cwd = frame.text();
  const std::uint64_t count = frame.number(2);
  if (count == 0 || count > kLightWordsMax) {
    return fail("found " + std::to_string(count) + " words of the command, expected 1 to " +
                std::to_string(kLightWordsMax));
  }
  for (std::uint64_t i = 0; i < count; ++i) enter.words.push_back(frame.text());
  if (!enter.cwd.empty() && enter.cwd.front() != '/') {
    return fail("found a working directory that is not absolute");
  }
  return LightRequest(std::move(enter));
}

Result<LightRequest> read_over(FrameReader& frame) {
  LightOver over;
  over.by_signal = frame.flag();
  over.code = static_cast<std::uint8_t>(frame.number(1));
  over.peak = Bytes{frame.number(8)};
  over.cpu = Duration(static_cast<Duration::rep>(std::min(frame.number(8), kNanosecondsMax)));
  return LightRequest(over);
}

// The kind of a frame of this version.
Result<Kind> kind_of(FrameReader& frame) {
  const std::uint64_t version = frame.number(1);
  const std::uint64_t kind = frame.number(1);
  if (version != kLightVersion) {
    return fail("found version " + std::to_string(version) + " of the light protocol, expected " +
                std::to_string(kLightVersion));
  }
  return static_cast<Kind>(kind);
}

tl::unexpected<Error> unknown(Kind kind) {
  return fail("found a frame of kind " + std::to_string(static_cast<unsigned>(kind)) +
              ", which is none that this side takes");
}

// A value that was read is good if the frame ended where the value did.
template <class T>
Result<T> whole(Result<T> value, const FrameReader& frame) {
  if (value && !frame.is_whole()) {
    return fail("found a frame whose length is not that of its parts");
  }
  return value;
}

}  // namespace

std::string to_frame(const LightRequest& request) {
  return std::visit(Cases{[](const LightEnter& enter) { return enter_frame(enter); },
                          [](const LightAgain&) { return FrameWriter(Kind::again).finish(); },
                          [](const LightOver& over) {
                            FrameWriter frame(Kind::over);
                            frame.number(over.by_signal ? 1 : 0, 1).number(over.code, 1);
                            const auto cpu = std::max<Duration::rep>(over.cpu.count(), 0);
                            frame.number(over.peak.count, 8);
                            frame.number(static_cast<std::uint64_t>(cpu), 8);
                            return std::move(frame).finish();
                          }},
                    request);
}

std::string to_frame(const LightNews& news) {
  return std::visit(Cases{[](const LightHeld& held) {
                            FrameWriter frame(Kind::held);
                            frame.text(held.cause).text(cut_utf8(held.reason, kLightTextMax));
                            return std::move(frame).finish();
                          },
                          [](const LightAdmitted& admitted) {
                            FrameWriter frame(Kind::admitted);
                            frame.number(admitted.attempt, 4);
                            return std::move(frame).finish();
                          },
                          [](const LightCancelled& cancelled) {
                            FrameWriter frame(Kind::cancelled);
                            frame.number(cancelled.again ? 1 : 0, 1);
                            frame.text(cancelled.cause);
                            frame.text(cut_utf8(cancelled.reason, kLightTextMax));
                            return std::move(frame).finish();
                          },
                          [](const LightRefused& refused) {
                            FrameWriter frame(Kind::refused);
                            frame.number(refused.busy ? 1 : 0, 1);
                            frame.text(cut_utf8(refused.reason, kLightTextMax));
                            return std::move(frame).finish();
                          }},
                    news);
}

Result<LightRequest> parse_light_request(std::string_view frame) {
  FrameReader reader(frame);
  const auto kind = kind_of(reader);
  if (!kind) return fail(kind.error().what);
  switch (*kind) {
    case Kind::enter: return whole(read_enter(reader), reader);
    case Kind::again: return whole(Result<LightRequest>(LightAgain{}), reader);
    case Kind::over: return whole(read_over(reader), reader);
    case Kind::held:
    case Kind::admitted:
    case Kind::cancelled:
    case Kind::refused: break;
  }
  return unknown(*kind);
}

Result<LightNews> parse_light_news(std::string_view frame) {
  FrameReader reader(frame);
  const auto kind = kind_of(reader);
  if (!kind) return fail(kind.error().what);
  switch (*kind) {
    case Kind::held: {
      LightHeld held{.cause = reader.text()};
      held.reason = reader.text();
      return whole(Result<LightNews>(std::move(held)), reader);
    }
    case Kind::admitted: {
      const LightAdmitted admitted{.attempt = static_cast<std::uint32_t>(reader.number(4))};
      return whole(Result<LightNews>(admitted), reader);
    }
    case Kind::cancelled: {
      LightCancelled cancelled{.again = reader.flag()};
      cancelled.cause = reader.text();
      cancelled.reason = reader.text();
      return whole(Result<LightNews>(std::move(cancelled)), reader);
    }
    case Kind::refused: {
      LightRefused refused{.busy = reader.flag()};
      refused.reason = reader.text();
      return whole(Result<LightNews>(std::move(refused)), reader);
    }
    case Kind::enter:
    case Kind::again:
    case Kind::over: break;
  }
  return unknown(*kind);
}

std::string light_socket_of(const std::string& daemon_socket) { return daemon_socket + ".light"; }

}  // namespace plimsoll::supervisor
