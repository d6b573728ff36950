#include "daemon/runner/tree_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/may_wait.h"

namespace plimsoll::daemon {
namespace {

constexpr int kEnterLevel = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// So many directories are remembered of one listing: then it is listed anew, when they are gone.
constexpr std::size_t kFoundMax = 32;
// What is moved up is called so, with a number.
constexpr const char* kLifted = ".plimsoll-deep-";

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Listing = std::unique_ptr<DIR, CloseDir>;

Listing list(int directory) {
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return nullptr;
  Listing listing(::fdopendir(own));
  if (!listing) ::close(own);
  return listing;
}

// Whether two descriptors are of the same directory.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(int directory) {
  struct stat about{};
  if (::fstat(directory, &about) != 0) return std::nullopt;
  return Identity{.device = about.st_dev, .number = about.st_ino};
}

// The errno, 0 if it is gone; EISDIR of a directory, which is to be emptied first.
int remove_entry(int parent, const char* name) {
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM && errno != EBUSY) return errno;
  const int failed = errno;
  // Something may be mounted on it, over other mounts.
  const std::string path = "/proc/self/fd/" + std::to_string(parent) + "/" + name;
  bool was_mounted = false;
  while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) was_mounted = true;
  if (!was_mounted) return failed;
  return ::unlinkat(parent, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

// Goes down into one directory after the other and back up by "..", so that only the one it stands
// in is open, beside the top.
//
// Invariant: levels_ is the way from the top to here_, and the last of it is here_.
class Remover {
 public:
  Remover(UniqueFd top, FileTurn& turn) : turn_(turn), top_(std::move(top)) {}

  TreeRemoval run() {
    here_ = UniqueFd(::openat(top_.get(), ".", kEnterLevel));
    const auto identity = identity_of(here_.get());
    if (!identity) return {.number = errno};
    levels_.push_back({.name = {}, .identity = *identity});
    while (!levels_.empty() && !is_over_) {
      const auto child = clear_here();
      if (is_over_) break;
      if (!child) {
        go_up();
      } else if (!lift(*child)) {
        enter(*child);
      }
    }
    return std::move(seen_);
  }

 private:
  struct Level {
    std::string name;  // in the level above
    Identity identity;
    std::vector<std::string> found{};  // directories that are to be entered
    std::set<std::string> left{};      // names that could not be removed
  };

  // Removes what is no directory, and tells a directory if there is one.
  std::optional<std::string> clear_here() {
    std::vector<std::string>& found = levels_.back().found;
    // What is removed while a directory is listed may hide something from the listing.
    for (bool is_new = true; is_new && found.empty() && !is_over_;) is_new = clear_listing(found);
    if (found.empty() || is_over_) return std::nullopt;
    std::string name = std::move(found.back());
    found.pop_back();
    return name;
  }

  // Whether anything was removed.
  bool clear_listing(std::vector<std::string>& found) {
    const Listing listing = list(here_.get());
    if (!listing) {
      leave({}, errno);
      return false;
    }
    bool has_removed = false;
    while (const dirent* entry = ::readdir(listing.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == ".." || levels_.back().left.contains(name)) continue;
      if (!turn_.step()) end(ECANCELED);
      if (is_over_) break;
      const int failed = remove_entry(here_.get(), entry->d_name);
      has_removed = has_removed || failed == 0;
      if (failed == EISDIR) {
        found.push_back(name);
      } else if (failed != 0) {
        leave(name, failed);
      }
      if (found.size() == kFoundMax) break;
    }
    return has_removed;
  }

  void enter(const std::string& name) {
    // A job may have taken its own rights away. Somebody may have put a link in its place by now.
    [[maybe_unused]] const int opened =
        ::fchmodat(here_.get(), name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW);
    UniqueFd child(::openat(here_.get(), name.c_str(), kEnterLevel));
    const auto identity = child ? identity_of(child.get()) : std::nullopt;
    if (!identity) return leave(name, errno);
    here_ = std::move(child);
    levels_.push_back({.name = name, .identity = *identity});
  }

  // Whether a directory that is too deep was moved up.
  bool lift(const std::string& name) {
    if (levels_.size() < kLevelsMax) return false;
    [[maybe_unused]] const int opened =
        ::fchmodat(here_.get(), name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW);
    int failed = EEXIST;
    while (failed == EEXIST && turn_.step()) {
      const std::string target = kLifted + std::to_string(++lifted_);
      failed =
          ::renameat2(here_.get(), name.c_str(), top_.get(), target.c_str(), RENAME_NOREPLACE) == 0
              ? 0
              : errno;
    }
    if (failed != 0) leave(name, failed);
    return true;
  }

  void go_up() {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return;
    UniqueFd parent(::openat(here_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Somebody has moved it elsewhere meanwhile: what is there is not to be removed.
    if (!parent || identity_of(parent.get()) != levels_.back().identity) return end(ESTALE);
    here_ = std::move(parent);
    if (!done.left.empty()) {
      levels_.back().left.insert(done.name);
    } else if (::unlinkat(here_.get(), done.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      leave(done.name, errno);
    }
  }

  // An empty name: the directory itself.
  void leave(const std::string& name, int number) {
    note(name, number);
    levels_.back().left.insert(name);
    if (++left_ >= kLeftMax) is_over_ = true;
  }

  void end(int number) {
    note({}, number);
    is_over_ = true;
  }

  void note(const std::string& name, int number) {
    if (seen_.number != 0) return;
    seen_.number = number;
    std::string path = name;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      if (level->name.empty()) break;
      path.insert(0, level->name + (path.empty() ? "" : "/"));
      if (path.size() > kPathShownMax) break;
    }
    if (path.size() > kPathShownMax) path = "..." + path.substr(path.size() - kPathShownMax);
    seen_.path = std::move(path);
  }

  FileTurn& turn_;
  UniqueFd top_;
  UniqueFd here_;
  std::vector<Level> levels_;
  std::size_t left_ = 0;
  std::size_t lifted_ = 0;
  bool is_over_ = false;
  TreeRemoval seen_;
};

}  // namespace

TreeRemoval remove_contents(UniqueFd directory, FileTurn& turn) {
  may_wait("remove_contents");
  return Remover(std::move(directory), turn).run();
}

}  // namespace plimsoll::daemon
