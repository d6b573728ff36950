#include "supervisor/output/printer.h"

#include "base/check.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {

Result<Printer::Flushed> Printer::flush() {
  Out& out = outs_[static_cast<std::size_t>(side_)];
  while (written_ < piece_.size() && !out.lost) {
    auto wrote = out.nonblocking_fd.write(std::string_view(piece_).substr(written_));
    if (wrote && *wrote == 0) return Flushed::waits;
    if (wrote) {
      written_ += *wrote;
    } else if (out_of_room(wrote.error().code)) {
      return pass(std::move(wrote), side_ == Side::out ? "standard output" : "standard error");
    } else {
      out.lost = true;
      out.why_lost = std::move(wrote).error();
      piece_.clear();
      return Flushed::lost;
    }
  }
  piece_.clear();
  written_ = 0;
  return Flushed::all;
}

std::string Printer::take() {
  written_ = 0;
  return std::exchange(piece_, {});
}

std::string& Printer::piece(Side side) {
  PLIMSOLL_CHECK(piece_.empty());
  side_ = side;
  written_ = 0;
  return piece_;
}

}  // namespace plimsoll::output
