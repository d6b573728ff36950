#include "kernel/cgroup/group.h"

#include "base/text.h"
#include "kernel/cgroup/hierarchies.h"

namespace plimsoll::cgroup {
namespace {

void remove_from(const std::vector<Group::Part>& parents, std::size_t count,
                 const std::string& name) {
  for (std::size_t i = 0; i < count; ++i) {
    [[maybe_unused]] const auto ignored = parents[i].directory.remove_child(name);
  }
}

}  // namespace

const Directory* Group::v2() const {
  for (const Part& part : parts_) {
    if (part.directory.version() == Version::v2) return &part.directory;
  }
  return nullptr;
}

const Directory* Group::of(Controller controller) const {
  for (const Part& part : parts_) {
    if (part.controllers.has(controller)) return &part.directory;
  }
  return nullptr;
}

Result<void> enable_for_children(const Directory& directory, ControllerSet wanted) {
  if (directory.version() == Version::v1 || wanted.empty()) return {};
  auto enabled_text = directory.read("cgroup.subtree_control");
  if (!enabled_text) return pass(std::move(enabled_text));
  const ControllerSet enabled = parse_v2_controllers(*enabled_text);
  std::string change;
  for (const Controller controller : kControllers) {
    if (!wanted.has(controller) || enabled.has(controller)) continue;
    if (!change.empty()) change += ' ';
    change.append("+").append(name_of(controller, Version::v2));
  }
  if (change.empty()) return {};
  return directory.write("cgroup.subtree_control", change);
}

Result<void> fill_cpuset(const Directory& parent, const Directory& child) {
  if (child.version() == Version::v2 || !child.has_file("cpuset.mems")) return {};
  for (const char* file : {"cpuset.cpus", "cpuset.mems"}) {
    auto present = child.read(file);
    if (!present) return pass(std::move(present));
    if (!trim(*present).empty()) continue;
    auto text = parent.read(file);
    if (!text) return pass(std::move(text));
    if (auto wrote = child.write(file, trim(*text)); !wrote) return wrote;
  }
  return {};
}

Result<std::vector<Group::Part>> Inner::make_parts(const std::string& name, ControllerSet wanted) {
  std::vector<Part> made;
  for (std::size_t i = 0; i < parts().size(); ++i) {
    const Part& part = parts()[i];
    const ControllerSet here = part.controllers & wanted;
    const bool is_v2 = part.directory.version() == Version::v2;
    if (!is_v2 && here.empty()) continue;
    if (is_v2 && !enabled_.has_all(here)) {
      if (auto enabled = enable_for_children(part.directory, here); !enabled) {
        remove_from(parts(), i, name);
        return pass(std::move(enabled));
      }
      enabled_ = enabled_ | here;
    }
    auto child = part.directory.make_child(name);
    if (child && !is_v2 && part.controllers.has(Controller::cpuset)) {
      if (auto filled = fill_cpuset(part.directory, *child); !filled) {
        remove_from(parts(), i + 1, name);
        return pass(std::move(filled));
      }
    }
    if (!child) {
      remove_from(parts(), i, name);
      return pass(std::move(child));
    }
    made.push_back({std::move(*child), is_v2 ? here : part.controllers});
  }
  return made;
}

Result<Leaf> Inner::make_leaf(const std::string& name, ControllerSet wanted) {
  auto made = make_parts(name, wanted);
  if (!made) return pass(std::move(made));
  return Leaf(name, std::move(*made));
}

Result<Inner> Inner::make_inner(const std::string& name, ControllerSet wanted) {
  auto made = make_parts(name, wanted);
  if (!made) return pass(std::move(made));
  return Inner(name, std::move(*made));
}

Result<void> Inner::remove_child(const std::string& name) const {
  Result<void> first{};
  for (const Part& part : parts()) {
    auto removed = part.directory.remove_child(name);
    if (!removed && !removed.error().gone() && first) first = std::move(removed);
  }
  return first;
}

Result<void> move_process(const Leaf& leaf, int pid) {
  const std::string text = std::to_string(pid);
  const auto move_into = [&text](const Directory& directory) {
    auto moved = directory.write("cgroup.procs", text);
    return moved ? std::move(moved) : pass(std::move(moved), "move process " + text);
  };
  const Directory* v2 = leaf.v2();
  for (const Group::Part& part : leaf.parts()) {
    if (&part.directory == v2) continue;
    if (auto moved = move_into(part.directory); !moved) return moved;
  }
  return v2 == nullptr ? Result<void>() : move_into(*v2);
}

Result<std::vector<int>> read_pids(const Directory& directory) {
  auto text = directory.read("cgroup.procs");
  if (!text) return pass(std::move(text));
  std::vector<int> pids;
  std::string_view rest = *text;
  while (!rest.empty()) {
    if (const auto pid = to_u64(take_line(rest))) pids.push_back(static_cast<int>(*pid));
  }
  return pids;
}

}  // namespace plimsoll::cgroup
