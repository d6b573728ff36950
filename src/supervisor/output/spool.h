#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::output {

// The unit in which the spool's file is given out. A block of which little is written takes little
// of the disk: the rest of it is a hole. So this may be large, and is what one read gets at most.
inline constexpr std::size_t kBlockBytes = 64 << 10;

// Free blocks that keep their place on the disk, to be written again while they are in the page
// cache; of those beyond it the disk gets the space back at once. 16 MiB.
inline constexpr std::size_t kFreeBlocksMax = 256;

// Where a text stands in the spool: blocks in order, of which those in front may be given back.
class Extents {
 public:
  [[nodiscard]] std::uint64_t size() const { return size_; }  // of all that was appended

 private:
  friend class Spool;
  std::vector<std::uint32_t> blocks_;  // those in front of dropped_ are given back already
  std::size_t dropped_ = 0;
  std::uint64_t cut_ = 0;  // blocks that stood in front of blocks_[0] once
  std::uint64_t size_ = 0;
};

// What jobs have written and nobody has printed yet: one unlinked file for everything, so that its
// descriptors stay the same however many jobs wait, and nothing is left when Plimsoll dies.
//
// Invariant: each block up to end_ is in exactly one Extents or in free_.
class Spool {
 public:
  // The file is made in `directory` with the first byte.
  explicit Spool(std::string directory) : directory_(std::move(directory)) {}

  // Appends from the front of `rest` and takes off it what was written; after an error the
  // remainder is still there, to be tried again.
  Result<void> append(Extents& to, std::string_view& rest);

  // Reads from `offset` on into `buffer`, at most to the end of a block: at least one byte where
  // there is one. `offset` lies before the end and not before what was given back.
  Result<std::string_view> read(const Extents& from, std::uint64_t offset, std::span<char> buffer);

  // Gives back what stands before `offset`, in whole blocks; or everything.
  void give_back(Extents& extents, std::uint64_t offset);
  void give_back(Extents& extents);

  [[nodiscard]] std::size_t blocks_used() const { return end_ - free_.size(); }

 private:
  Result<void> create();
  std::uint32_t take_block();
  void free_block(std::uint32_t block);

  std::string directory_;
  UniqueFd file_;
  std::uint32_t end_ = 0;
  std::vector<std::uint32_t> free_;
};

}  // namespace plimsoll::output
