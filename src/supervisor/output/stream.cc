#include "supervisor/output/stream.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {

std::size_t append_tagged(std::string& out, const std::optional<std::string>& tag,
                          std::string_view data, std::size_t limit, InLine& at) {
  if (data.empty()) return 0;
  if (!tag) {
    out += data;
    at = data.back() == '\n' ? InLine::start : InLine::middle;
    return data.size();
  }
  std::size_t taken = 0;
  do {
    if (at == InLine::start) {
      out += *tag;
      out += '\t';
    }
    const std::size_t newline = data.find('\n', taken);
    at = newline == std::string_view::npos ? InLine::middle : InLine::start;
    const std::size_t end = at == InLine::start ? newline + 1 : data.size();
    out += data.substr(taken, end - taken);
    taken = end;
  } while (taken < data.size() && out.size() < limit);
  return taken;
}

using Newline = Form::Newline;

void Stream::copy_to(ResultFile results) {
  results_ = std::make_unique<ResultFile>(std::move(results));
}

Result<Stream::Read> Stream::read(Spool& spool, std::span<char> buffer) {
  PLIMSOLL_CHECK(pipe_ && !held_);
  ssize_t got = 0;
  do {
    got = ::read(pipe_.get(), buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return Read::nothing;
  if (got <= 0) return Read::end;  // a pipe has no other errors
  const std::string_view data(buffer.data(), static_cast<std::size_t>(got));
  count_->fetch_add(data.size(), std::memory_order_relaxed);
  Rest rest{.to_spool = data, .to_results = results_ ? data : std::string_view()};
  if (auto kept = keep(spool, rest); !kept) {
    held_ = std::make_unique<Held>(Held{.data = std::string(data),
                                        .to_spool = rest.to_spool.size(),
                                        .to_results = rest.to_results.size()});
    return pass(std::move(kept));
  }
  mark_whole(data);
  return Read::something;
}

Result<void> Stream::keep(Spool& spool, Rest& rest) {
  if (auto spooled = spool.append(extents_, rest.to_spool); !spooled) return spooled;
  return results_ ? results_->append(rest.to_results) : Result<void>{};
}

Result<void> Stream::keep_held(Spool& spool) {
  PLIMSOLL_CHECK(held_);
  const std::string_view data = held_->data;
  Rest rest{.to_spool = data.substr(data.size() - held_->to_spool),
            .to_results = data.substr(data.size() - held_->to_results)};
  auto kept = keep(spool, rest);
  held_->to_spool = rest.to_spool.size();
  held_->to_results = rest.to_results.size();
  if (!kept) return kept;
  mark_whole(data);
  held_.reset();
  return {};
}

void Stream::mark_whole(std::string_view newest) {
  const std::size_t newline = newest.rfind('\n');
  // Some of it may have been dropped before the rest could be kept.
  const std::uint64_t end = extents_.size() + newline + 1;
  if (newline != std::string_view::npos && end > newest.size()) {
    whole_ = std::max(whole_, end - newest.size());
  } else if (extents_.size() - std::max(whole_, printed_) >= kLineBytesMax) {
    whole_ = extents_.size();
  }
}

Result<void> Stream::end(const Form& form) {
  PLIMSOLL_CHECK(!held_);
  pipe_ = {};
  auto kept = results_ ? results_->finish() : Result<void>{};
  results_.reset();
  whole_ = extents_.size();
  owes_newline_ = printed_ == whole_ && in_line_ == InLine::middle && form.newline != Newline::none;
  return kept;
}

void Stream::drop(Spool& spool) {
  spool.give_back(extents_);
  printed_ = whole_ = 0;
  owes_newline_ = in_line_ == InLine::middle;
}

Result<void> Stream::compose(std::string& text, Spool& spool, const Form& form) {
  PLIMSOLL_CHECK(printable());
  if (printed_ < whole_) {
    std::array<char, kBlockBytes> buffer;
    const std::uint64_t wanted = std::min<std::uint64_t>(buffer.size(), whole_ - printed_);
    auto data = spool.read(extents_, printed_, std::span(buffer).first(wanted));
    if (!data) {
      drop(spool);
      return pass(std::move(data));
    }
    printed_ += append_tagged(text, form.tag, *data, kBlockBytes, in_line_);
    spool.give_back(extents_, printed_);
    const bool ends_line =
        form.newline == Newline::always || (form.newline == Newline::after_the_last && ended());
    owes_newline_ = ends_line && printed_ == whole_ && in_line_ == InLine::middle;
  }
  if (owes_newline_) {
    text += '\n';
    in_line_ = InLine::start;
    owes_newline_ = false;
  }
  return {};
}

}  // namespace plimsoll::output
