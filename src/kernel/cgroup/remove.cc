#include "kernel/cgroup/remove.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/cgroup/subtree.h"

namespace plimsoll::cgroup {
namespace {

// One call of remove_tree().
struct Pass {
  std::size_t left = kRemovalsMax;

  // What was found at one directory; a later fault does not hide an earlier one.
  static void add(Result<Removal>& sum, Result<Removal> one) {
    if (!sum) return;
    if (!one || *one == Removal::busy) sum = std::move(one);
  }

  Result<Removal> remove(const Directory& parent, const std::string& name) {
    Result<Removal> first = try_once(parent, name);
    if (!first || *first == Removal::done) return first;

    auto directory = parent.open_child(name);
    if (!directory) {
      if (directory.error().gone()) return Removal::done;
      return pass(std::move(directory));
    }
    if (!may_have_children(*directory)) return Removal::busy;
    Result<Removal> below = remove_below(*directory);
    if (!below || *below == Removal::busy) return below;
    return try_once(parent, name);
  }

  Result<Removal> remove_below(const Directory& top) {
    using Step = SubtreeWalk::Step;
    SubtreeWalk walk(top);
    Result<Removal> all = Removal::done;
    for (Step step = walk.next(); step != Step::ended; step = walk.next()) {
      if (left == 0) return Removal::busy;
      if (step == Step::entered) continue;
      Result<Removal> one = try_once(walk.here(), walk.name());
      // What is busy may be so for its children.
      if (step == Step::found && one && *one == Removal::busy) continue;
      if (step == Step::found) walk.pass_over();
      add(all, std::move(one));
    }
    if (!walk.trouble()) add(all, tl::unexpected(walk.trouble().error()));
    return all;
  }

  Result<Removal> try_once(const Directory& parent, const std::string& name) {
    auto removed = parent.remove_child(name);
    if (removed) {
      if (left > 0) --left;
      return Removal::done;
    }
    if (removed.error().gone()) return Removal::done;
    if (removed.error().code == std::errc::device_or_resource_busy) return Removal::busy;
    return pass(std::move(removed));
  }
};

// Whether `name` below `parent` is the very group that `group` holds open.
bool is_same(const Directory& parent, const std::string& name, const Directory& group) {
  struct stat named{};
  struct stat held{};
  return ::fstatat(parent.fd(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(group.fd(), &held) == 0 && named.st_ino == held.st_ino;
}

// The present name of an open group below its parent, which is `name` unless somebody has renamed
// it (v1 allows that). Gone (Error) if it was removed.
Result<std::string> present_name(const Directory& parent, const std::string& name,
                                 const Directory& group) {
  if (is_same(parent, name, group)) return name;
  if (auto alive = group.open_file("cgroup.procs", O_RDONLY); !alive) return pass(std::move(alive));
  auto names = parent.children();
  if (!names) return pass(std::move(names));
  for (std::string& other : *names) {
    if (is_same(parent, other, group)) return std::move(other);
  }
  return fail(std::errc::no_such_file_or_directory, "find " + group.label());
}

Result<Removal> remove_part(const Directory& directory, const std::string& name) {
  auto parent = directory.open_parent();
  if (!parent) {
    if (parent.error().gone()) return Removal::done;
    return pass(std::move(parent));
  }
  auto now_named = present_name(*parent, name, directory);
  if (!now_named) {
    if (now_named.error().gone()) return Removal::done;
    return pass(std::move(now_named));
  }
  return remove_tree(*parent, *now_named);
}

}  // namespace

bool is_final(const Error& error) {
  return error.code == std::errc::operation_not_permitted ||
         error.code == std::errc::permission_denied ||
         error.code == std::errc::read_only_file_system;
}

Result<Removal> remove_tree(const Directory& parent, const std::string& name) {
  return Pass{}.remove(parent, name);
}

Result<Removal> remove_group(const Group& group) {
  Result<Removal> all = Removal::done;
  for (const Group::Part& part : group.parts()) {
    Pass::add(all, remove_part(part.directory, group.name()));
  }
  return all;
}

}  // namespace plimsoll::cgroup
