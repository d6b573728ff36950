#include "supervisor/output/spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/check.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {
namespace {

std::uint64_t place_of(std::uint32_t block) { return std::uint64_t{block} * kBlockBytes; }

}  // namespace

Result<void> Spool::create() {
  if (file_) return {};
  file_ = UniqueFd(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file_) return {};
  // A file system without O_TMPFILE (NFS, some FUSE) answers in several ways; a name then shows for
  // a moment.
  std::string name = directory_ + "/plimsoll-spool-XXXXXX";
  file_ = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_) return fail_errno("create a file in " + directory_);
  if (::unlink(name.c_str()) != 0) return fail_errno("unlink " + name);
  return {};
}

std::uint32_t Spool::take_block() {
  if (free_.empty()) return end_++;
  const std::uint32_t block = free_.back();
  free_.pop_back();
  return block;
}

// Where the file system can't punch holes, free blocks are used again all the same.
void Spool::free_block(std::uint32_t block) {
  free_.push_back(block);
  if (free_.size() <= kFreeBlocksMax) return;
  if (free_.size() < end_) {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(place_of(block)), kBlockBytes);
  } else if (::ftruncate(file_.get(), 0) == 0) {
    end_ = 0;
    free_.clear();
  }
}

Result<void> Spool::append(Extents& to, std::string_view& rest) {
  if (auto ready = create(); !ready) return ready;
  while (!rest.empty()) {
    const std::uint64_t index = to.size_ / kBlockBytes - to.cut_;
    // After a failed write its block is there already, and empty.
    if (index == to.blocks_.size()) to.blocks_.push_back(take_block());
    const std::uint64_t within = to.size_ % kBlockBytes;
    std::string_view part = rest.substr(0, kBlockBytes - within);
    const std::size_t wanted = part.size();
    auto wrote = write_front(Place{file_.get(), place_of(to.blocks_[index]) + within}, part);
    to.size_ += wanted - part.size();
    rest.remove_prefix(wanted - part.size());
    if (!wrote) return pass(std::move(wrote), "spool in " + directory_);
  }
  return {};
}

Result<std::string_view> Spool::read(const Extents& from, std::uint64_t offset,
                                     std::span<char> buffer) {
  PLIMSOLL_CHECK(offset < from.size_ && offset / kBlockBytes >= from.cut_ + from.dropped_);
  const std::uint64_t within = offset % kBlockBytes;
  const std::uint64_t there = std::min(kBlockBytes - within, from.size_ - offset);
  const std::uint64_t at = place_of(from.blocks_[offset / kBlockBytes - from.cut_]) + within;
  ssize_t got = 0;
  do {
    got = ::pread(file_.get(), buffer.data(), std::min<std::size_t>(there, buffer.size()),
                  static_cast<off_t>(at));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail_errno("read the spool in " + directory_);
  if (got == 0) return fail(std::errc::io_error, "read the spool in " + directory_);
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

void Spool::give_back(Extents& extents, std::uint64_t offset) {
  while ((extents.cut_ + extents.dropped_ + 1) * kBlockBytes <= offset) {
    free_block(extents.blocks_[extents.dropped_++]);
  }
  // Moving the rest to the front each time would cost the square of its length.
  if (extents.dropped_ * 2 < extents.blocks_.size()) return;
  extents.blocks_.erase(extents.blocks_.begin(),
                        extents.blocks_.begin() + static_cast<std::ptrdiff_t>(extents.dropped_));
  extents.cut_ += extents.dropped_;
  extents.dropped_ = 0;
}

void Spool::give_back(Extents& extents) {
  for (std::size_t i = extents.dropped_; i < extents.blocks_.size(); ++i) {
    free_block(extents.blocks_[i]);
  }
  extents = {};
}

}  // namespace plimsoll::output
