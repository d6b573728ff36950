#include "supervisor/output/spool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

#include "stage.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {
namespace {

void append(Spool& spool, Extents& to, std::string_view text) {
  ASSERT_TRUE(spool.append(to, text));
  ASSERT_TRUE(text.empty());
}

std::string read_from(Spool& spool, const Extents& from, std::uint64_t offset) {
  std::array<char, kBlockBytes> buffer{};
  std::string text;
  while (offset < from.size()) {
    const auto part = spool.read(from, offset, buffer);
    if (!part) return part.error().message();
    text += *part;
    offset += part->size();
  }
  return text;
}

TEST(Spool, BlocksAreUsedAgain) {
  TemporaryDirectory directory;
  Spool spool(directory.path());
  const std::string block(kBlockBytes, 'x');
  for (int i = 0; i < 10; ++i) {
    Extents extents;
    append(spool, extents, block + block + "y");
    EXPECT_EQ(spool.blocks_used(), 3u);
    spool.give_back(extents, kBlockBytes + 5);
    EXPECT_EQ(spool.blocks_used(), 2u);
    EXPECT_EQ(read_from(spool, extents, kBlockBytes + 5), block.substr(5) + "y");
    spool.give_back(extents);
    EXPECT_EQ(spool.blocks_used(), 0u);
    EXPECT_EQ(extents.size(), 0u);
  }
}

// Any order of appending, reading and giving back: each reads what it wrote, and no block is lost.
RC_GTEST_PROP(Spool, TextsDoNotMeet, ()) {
  TemporaryDirectory directory;
  Spool spool(directory.path());
  struct Text {
    Extents extents;
    std::string all;
    std::uint64_t given_back = 0;
  };
  std::map<int, Text> texts;
  const auto steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    Text& text = texts[*rc::gen::inRange(0, 4)];
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
      case 1: {
        const auto size = *rc::gen::inRange<std::size_t>(1, 3 * kBlockBytes);
        const std::string more(size, static_cast<char>('a' + i % 26));
        append(spool, text.extents, more);
        text.all += more;
        break;
      }
      case 2:
        text.given_back = *rc::gen::inRange(text.given_back, text.extents.size() + 1);
        spool.give_back(text.extents, text.given_back);
        break;
      default: spool.give_back(text.extents); text = {};
    }
    RC_ASSERT(read_from(spool, text.extents, text.given_back) == text.all.substr(text.given_back));
  }
  for (auto& [key, text] : texts) {
    RC_ASSERT(read_from(spool, text.extents, text.given_back) == text.all.substr(text.given_back));
    spool.give_back(text.extents);
  }
  RC_ASSERT(spool.blocks_used() == 0u);
}

TEST(Spool, SpaceGoesBackToTheDisk) {
  TemporaryDirectory directory;
  Spool spool(directory.path());
  Extents first, second;
  const std::string block(kBlockBytes, 'x');
  for (std::size_t i = 0; i < 3 * kFreeBlocksMax; ++i) append(spool, first, block);
  append(spool, second, block);
  // The only descriptor of this process that leads there.
  const auto blocks_on_disk = [&] {
    for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      const std::string target = std::filesystem::read_symlink(fd, ignored).string();
      struct stat about{};
      if (target.starts_with(directory.path().string()) && ::stat(fd.path().c_str(), &about) == 0) {
        return static_cast<std::size_t>(about.st_blocks) * 512 / kBlockBytes;
      }
    }
    return std::size_t{0};
  };
  EXPECT_GE(blocks_on_disk(), 3 * kFreeBlocksMax);
  spool.give_back(first);
  EXPECT_LE(blocks_on_disk(), kFreeBlocksMax + 2);
  EXPECT_EQ(read_from(spool, second, 0), block);
  spool.give_back(second);
  EXPECT_LE(blocks_on_disk(), 1u);
}

// Sets a variable, or unsets it, until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(SpoolDirectory, IsNotOnATmpfsUnlessSaidSo) {
  const Variable own("PLIMSOLL_TMPDIR", nullptr);
  const Variable common("TMPDIR", nullptr);
  EXPECT_EQ(default_spool_dir(), "/var/tmp");
  {
    const Variable memory("TMPDIR", "/dev/shm");
    EXPECT_EQ(default_spool_dir(), "/var/tmp");
    const Variable explicitly("PLIMSOLL_TMPDIR", "/dev/shm");
    EXPECT_EQ(default_spool_dir(), "/dev/shm");
  }
  TemporaryDirectory directory;
  const Variable disk("TMPDIR", directory.path().c_str());
  EXPECT_EQ(default_spool_dir(), directory.path());
  const Variable empty("PLIMSOLL_TMPDIR", "");
  EXPECT_EQ(default_spool_dir(), directory.path());
}

}  // namespace
}  // namespace plimsoll::output
