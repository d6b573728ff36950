#include "jobfile/json_keys.h"

#include <algorithm>
#include <array>
#include <climits>
#include <nlohmann/json.hpp>

#include "jobfile/closest.h"
#include "jobfile/json_value.h"

namespace plimsoll::jobfile {
namespace {

using nlohmann::json;

// Puts a value where it belongs, or hands its error on.
template <class Value, class Target>
Result<void> put(Result<Value>&& value, Target& target) {
  if (!value) return pass(std::move(value));
  target = std::move(*value);
  return {};
}

// A number whose range makes it fit into `target`.
template <class Number, class Target>
Result<void> put_whole(const json& value, WholeRange range, Target& target) {
  auto number = to_whole(value, range);
  if (!number) return pass(std::move(number));
  target = static_cast<Number>(*number);
  return {};
}

// As of --cap.
constexpr WholeRange kCaps = {1, 1'000'000};
// As of cpu.weight and io.weight (cgroup-v2).
constexpr WholeRange kWeights = {1, 10'000};

Result<void> set_argv(const json& value, Draft& draft) {
  if (!value.is_array() || value.empty()) {
    return unlike(value, "a list of words, the program first");
  }
  std::vector<std::string> argv;
  for (const json& element : value) {
    auto word = argv.empty() ? to_text(element) : to_text_or_empty(element);
    if (!word) return pass(std::move(word), "word " + std::to_string(argv.size() + 1));
    argv.push_back(std::move(*word));
  }
  draft.spec.command = std::move(argv);
  return {};
}

Result<void> set_shell(const json& value, Draft& draft) {
  return put(to_text(value), draft.spec.command);
}

// What the defaults have set is replaced, name by name.
void set_variable(std::vector<std::pair<std::string, std::string>>& env, const std::string& name,
                  std::string value) {
  const auto found = std::find_if(env.begin(), env.end(),
                                  [&](const auto& variable) { return variable.first == name; });
  if (found == env.end()) {
    env.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

Result<void> set_env(const json& value, Draft& draft) {
  if (!value.is_object()) return unlike(value, "an object of names and texts");
  for (const auto& [name, element] : value.items()) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      return unlike(json(name), "the name of a variable, without `=` and NUL");
    }
    auto text = to_text_or_empty(element);
    if (!text) return pass(std::move(text), json(name).dump());
    set_variable(draft.spec.env, name, std::move(*text));
  }
  return {};
}

Result<void> set_cpuset(const json& value, Draft& draft) {
  auto list = to_text(value);
  if (!list) return pass(std::move(list));
  if (list->find_first_not_of("0123456789,-") != std::string::npos) {
    return unlike(value, "a list of CPUs such as \"0-3,7\"");
  }
  draft.spec.limits.cpuset = std::move(*list);
  return {};
}

Result<void> set_cpu_weight(const json& value, Draft& draft) {
  return put_whole<unsigned>(value, kWeights, draft.spec.limits.cpu_weight);
}
Result<void> set_io_weight(const json& value, Draft& draft) {
  return put_whole<unsigned>(value, kWeights, draft.spec.limits.io_weight);
}
Result<void> set_pids_max(const json& value, Draft& draft) {
  return put_whole<std::uint64_t>(value, {1, INT64_MAX}, draft.spec.limits.pids_max);
}
Result<void> set_priority(const json& value, Draft& draft) {
  return put_whole<int>(value, {INT_MIN, INT_MAX}, draft.spec.priority);
}
Result<void> set_cap(const json& value, Draft& draft) {
  return put_whole<unsigned>(value, kCaps, draft.spec.cap);
}
Result<void> set_retries(const json& value, Draft& draft) {
  return put_whole<unsigned>(value, {0, UINT_MAX}, draft.spec.retries);
}

struct Key {
  std::string_view name;
  Result<void> (*set)(const json& value, Draft& draft);
};

// The whole language: docs/formats/job-files.md has a row for each.
constexpr auto kKeys = std::to_array<Key>({
    {"argv", set_argv},
    {"cap", set_cap},
    {"class", [](const json& v, Draft& d) { return put(to_text(v), d.spec.job_class); }},
    {"cpu_hint", [](const json& v, Draft& d) { return put(to_cores(v), d.spec.cpu_hint); }},
    {"cpu_weight", set_cpu_weight},
    {"cpus", [](const json& v, Draft& d) { return put(to_quota(v), d.spec.limits.cpus); }},
    {"cpuset", set_cpuset},
    {"cwd", [](const json& v, Draft& d) { return put(to_text(v), d.spec.cwd); }},
    {"disk_hint", [](const json& v, Draft& d) { return put(to_bytes(v), d.spec.disk_hint); }},
    {"env", set_env},
    {"id", [](const json& v, Draft& d) { return put(to_name(v), d.spec.name); }},
    {"io_weight", set_io_weight},
    {"memory_high",
     [](const json& v, Draft& d) {
       return put(to_bytes_above_zero(v), d.spec.limits.memory_high);
     }},
    {"memory_hint", [](const json& v, Draft& d) { return put(to_bytes(v), d.spec.memory_hint); }},
    {"memory_max",
     [](const json& v, Draft& d) { return put(to_bytes_above_zero(v), d.spec.limits.memory_max); }},
    {"needs", [](const json& v, Draft& d) { return put(to_names(v), d.needs); }},
    {"pids_max", set_pids_max},
    {"priority", set_priority},
    {"restartable", [](const json& v, Draft& d) { return put(to_bool(v), d.spec.restartable); }},
    {"retries", set_retries},
    {"shell", set_shell},
    {"stderr", [](const json& v, Draft& d) { return put(to_text(v), d.spec.stderr_path); }},
    {"stdout", [](const json& v, Draft& d) { return put(to_text(v), d.spec.stdout_path); }},
    {"swap_max", [](const json& v, Draft& d) { return put(to_bytes(v), d.spec.limits.swap_max); }},
    {"timeout", [](const json& v, Draft& d) { return put(to_duration(v), d.spec.timeout); }},
    {"uid", [](const json& v, Draft& d) { return put(to_name(v), d.spec.uid); }},
    {"weight", set_cpu_weight},
});

// What other programs and people call a key of ours.
struct Synonym {
  std::string_view word;
  std::string_view meant;
};
constexpr std::string_view kCommand =
    "\"shell\" (a text for /bin/sh) or \"argv\" (a list of words)";
constexpr Synonym kSynonyms[] = {
    {"cmd", kCommand},
    {"command", kCommand},
    {"commandline", kCommand},
    {"exec", kCommand},
    {"run", kCommand},
    {"script", kCommand},
    {"args", "\"argv\""},
    {"arguments", "\"argv\""},
    {"name", "\"id\""},
    {"after", "\"needs\""},
    {"dependencies", "\"needs\""},
    {"depends", "\"needs\""},
    {"depends_on", "\"needs\""},
    {"deps", "\"needs\""},
    {"dir", "\"cwd\""},
    {"directory", "\"cwd\""},
    {"workdir", "\"cwd\""},
    {"environment", "\"env\""},
    {"user", "\"uid\""},
    {"cores", "\"cpus\" (a limit) or \"cpu_hint\""},
    {"mem", "\"memory_max\" (a limit) or \"memory_hint\""},
    {"memory", "\"memory_max\" (a limit) or \"memory_hint\""},
};

tl::unexpected<Error> unknown_key(const std::string& key) {
  std::array<std::string_view, kKeys.size()> names{};
  std::transform(kKeys.begin(), kKeys.end(), names.begin(), [](const Key& k) { return k.name; });
  std::string what = "found the unknown key " + json(key).dump();
  for (const Synonym& synonym : kSynonyms) {
    if (key == synonym.word) return fail(what + ", expected perhaps " + std::string(synonym.meant));
  }
  if (const auto meant = closest(key, names)) {
    return fail(what + ", expected perhaps \"" + std::string(*meant) + '"');
  }
  what += ", expected one of";
  for (const std::string_view name : names) what += ' ' + std::string(name);
  return fail(std::move(what));
}

// Of two keys that say the same thing, one.
Result<void> check_pairs(const json& object) {
  const bool argv = object.contains("argv");
  const bool shell = object.contains("shell");
  if (argv && shell) return fail("found both \"argv\" and \"shell\", expected one of them");
  if (!argv && !shell) {
    return fail("found neither \"argv\" nor \"shell\", expected one of them");
  }
  if (object.contains("weight") && object.contains("cpu_weight")) {
    return fail("found both \"weight\" and \"cpu_weight\", expected one: they mean the same");
  }
  return {};
}

}  // namespace

Result<void> apply_keys(const json& object, Draft& draft) {
  for (const auto& [name, value] : object.items()) {
    const auto* const key =
        std::find_if(kKeys.begin(), kKeys.end(),
                     [&wanted = name](const Key& known) { return known.name == wanted; });
    if (key == kKeys.end()) return unknown_key(name);
    auto set = key->set(value, draft);
    if (!set) return pass(std::move(set), '"' + name + '"');
  }
  return check_pairs(object);
}

}  // namespace plimsoll::jobfile
