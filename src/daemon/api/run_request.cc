#include "daemon/api/run_request.h"

#include <google/protobuf/io/coded_stream.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "daemon/api/priority_range.h"
#include "daemon/api/weight_range.h"
#include "plimsoll/v1/jobs.pb.h"
#include "supervisor/control/job_protocol.h"

namespace plimsoll::daemon {
namespace {

using google::protobuf::io::CodedInputStream;

// More than a process has; each costs many times as much as a word, as one may be named twice.
constexpr std::size_t kVariablesMax = 10'000;
constexpr double kJobCoresMax = 100'000;
constexpr std::size_t kJobTextMax = 256;
// Of all fields but words and variables, the longest of which is a path. What protobuf does not
// know it keeps, and makes some sixty bytes of two.
constexpr std::size_t kRestMax = 64 << 10;
// A number of 32 bits on the wire, as tags and sizes are.
constexpr std::size_t kVarint32Max = 5;
const std::string kWordBytes = "at most " + std::to_string(supervisor::kJobWordBytesMax) +
                               ", the kernel's limit for one word or variable";
constexpr std::int64_t kTimeoutSecondsMax = 10LL * 365 * 86'400;

tl::unexpected<Error> bad(const std::string& what, const std::string& found,
                          const std::string& expected) {
  return fail(std::errc::invalid_argument,
              "job." + what + ": found " + found + ", expected " + expected);
}

tl::unexpected<Error> not_a_request() {
  return fail(std::errc::invalid_argument,
              "found bytes that are no message, expected a plimsoll.v1.RunRequest");
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The kinds of fields that there are on the wire, in the lowest three bits of a tag.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::uint32_t bytes_tag(int field) {
  return static_cast<std::uint32_t>(field) << 3U | static_cast<std::uint32_t>(WireType::bytes);
}

struct Field {
  std::uint32_t tag = 0;
  std::string_view whole;    // with its tag
  std::string_view content;  // of one of bytes
};

// The fields of a message, one after the other, as protobuf reads them.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : message_(message),
        in_(reinterpret_cast<const std::uint8_t*>(message.data()),
            static_cast<int>(message.size())) {}

  // Nothing after the last one, and where there is none.
  std::optional<Field> next() {
    const std::size_t begin = position();
    if (begin == message_.size()) return std::nullopt;
    Field field{.tag = in_.ReadTag(), .whole = {}, .content = {}};
    is_broken_ = !pass(field, begin);
    if (is_broken_) return std::nullopt;
    field.whole = message_.substr(begin, position() - begin);
    return field;
  }
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  [[nodiscard]] std::size_t position() const {
    return static_cast<std::size_t>(in_.CurrentPosition());
  }

  // Of a longer number the stream would take a part.
  [[nodiscard]] bool is_short(std::size_t begin) const {
    return position() - begin <= kVarint32Max;
  }

  bool pass(Field& field, std::size_t begin) {
    if (field.tag >> 3U == 0 || !is_short(begin)) return false;
    switch (WireType(field.tag & 7U)) {
      case WireType::varint: {
        std::uint64_t value = 0;
        return in_.ReadVarint64(&value);
      }
      case WireType::fixed64: return in_.Skip(8);
      case WireType::fixed32: return in_.Skip(4);
      case WireType::bytes: {
        const std::size_t at = position();
        std::uint32_t size = 0;
        if (!in_.ReadVarint32(&size) || !is_short(at)) return false;
        if (size > message_.size() - position()) return false;
        field.content = message_.substr(position(), size);
        return in_.Skip(static_cast<int>(size));
      }
    }
    return false;  // a group, which this version of protobuf has no more
  }

  std::string_view message_;
  CodedInputStream in_;
  bool is_broken_ = false;
};

// What a request says about its job.
struct Parts {
  WordsBuilder argv;
  // Not by hashes: a client can choose names that have the same.
  std::map<std::string_view, std::string_view> env;
  std::string rest;  // all other fields of the JobSpec
};

Result<void> take_word(std::string_view word, Parts& parts) {
  if (has_nul(word)) return bad("argv", "a NUL byte", "none");
  if (word.size() > supervisor::kJobWordBytesMax) {
    return bad("argv", "a word of " + std::to_string(word.size()) + " bytes", kWordBytes);
  }
  if (parts.argv.size() == 0 && word.empty()) return bad("argv", "no command", "one");
  parts.argv.add(word);
  return {};
}

Result<void> take_variable(std::string_view entry, Parts& parts) {
  std::string_view name;
  std::string_view value;
  Fields fields(entry);
  while (const auto field = fields.next()) {
    if (field->tag == bytes_tag(1)) name = field->content;
    if (field->tag == bytes_tag(2)) value = field->content;
  }
  if (fields.is_broken()) return not_a_request();
  if (name.empty() || name.find('=') != std::string_view::npos || has_nul(name) || has_nul(value)) {
    return bad("env", "\"" + std::string(cut_utf8(name, kJobTextMax)) + "\"",
               "a name without = and values without NUL bytes");
  }
  if (name.size() + 1 + value.size() > supervisor::kJobWordBytesMax) {
    return bad("env", "a variable of " + std::to_string(name.size() + 1 + value.size()) + " bytes",
               kWordBytes);
  }
  parts.env[name] = value;
  if (parts.env.size() > kVariablesMax) {
    return bad("env", "more than 10000 variables", "at most 10000");
  }
  return {};
}

Result<void> take_job(std::string_view job, Parts& parts) {
  Fields fields(job);
  while (const auto field = fields.next()) {
    Result<void> taken;
    if (field->tag == bytes_tag(v1::JobSpec::kArgvFieldNumber)) {
      taken = take_word(field->content, parts);
    } else if (field->tag == bytes_tag(v1::JobSpec::kEnvFieldNumber)) {
      taken = take_variable(field->content, parts);
    } else {
      parts.rest += field->whole;
    }
    if (parts.rest.size() > kRestMax) {
      return bad("argv", "more than 64 KiB beside words and variables", "at most 64 KiB");
    }
    if (!taken) return taken;
    if (parts.argv.size() + parts.env.size() > supervisor::kJobWordsMax) {
      return bad("argv", "more than 250000 words or variables", "at most 250000");
    }
  }
  if (fields.is_broken()) return not_a_request();
  return {};
}

// As protobuf does: of a field that is there twice the parts are joined.
Result<Parts> parts_of(std::string_view message) {
  Parts parts;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->tag != bytes_tag(v1::RunRequest::kJobFieldNumber)) continue;
    if (auto taken = take_job(field->content, parts); !taken) return pass(std::move(taken));
  }
  if (fields.is_broken()) return not_a_request();
  if (parts.argv.size() == 0) return bad("argv", "no command", "one");
  return parts;
}

Words environment_of(const Parts& parts) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : parts.env) bytes += name.size() + 1 + value.size();
  WordsBuilder environment;
  environment.reserve(parts.env.size(), bytes);
  for (const auto& [name, value] : parts.env) environment.add(name, "=", value);
  return environment.take();
}

Result<void> take_cores(std::optional<double>& cores, const char* name, double value) {
  if (!std::isfinite(value) || value < 0 || value > kJobCoresMax) {
    return bad(name, std::to_string(value), "0 to 100000");
  }
  if (value > 0) cores = value;
  return {};
}

Result<void> take_quota(std::optional<double>& cores, const char* name, double value) {
  if (value > 0 && value < kCpusMin) {
    return bad(name, std::to_string(value), "0, or 0.001 to 100000");
  }
  return take_cores(cores, name, value);
}

Result<void> take_limits(const v1::JobSpec& message, policy::JobSpec& spec) {
  if (message.memory_hint_bytes() > 0) spec.memory_hint = Bytes{message.memory_hint_bytes()};
  if (message.disk_hint_bytes() > 0) spec.disk_hint = Bytes{message.disk_hint_bytes()};
  if (message.memory_max_bytes() > 0) spec.limits.memory_max = Bytes{message.memory_max_bytes()};
  if (message.pids_max() > 0) spec.limits.pids_max = message.pids_max();
  if (auto taken = take_cores(spec.cpu_hint, "cpu_hint_cores", message.cpu_hint_cores()); !taken) {
    return taken;
  }
  return take_quota(spec.limits.cpus, "cpus_max", message.cpus_max());
}

Result<void> take_place(const v1::JobSpec& message, policy::JobSpec& spec) {
  spec.cwd = message.cwd().empty() ? "/" : message.cwd();
  if (spec.cwd.size() > supervisor::kJobPathMax) {
    return bad("cwd", "a path of " + std::to_string(spec.cwd.size()) + " bytes",
               "at most " + std::to_string(supervisor::kJobPathMax));
  }
  if (!spec.cwd.starts_with('/') || has_nul(spec.cwd)) {
    return bad("cwd", "\"" + message.cwd() + "\"", "an absolute path");
  }
  return {};
}

Result<void> take_timeout(const v1::JobSpec& message, policy::JobSpec& spec) {
  if (!message.has_timeout()) return {};
  const std::int64_t seconds = message.timeout().seconds();
  const std::int32_t nanos = message.timeout().nanos();
  if (seconds < 0 || seconds > kTimeoutSecondsMax || nanos < 0 || nanos > 999'999'999 ||
      (seconds == 0 && nanos == 0)) {
    return bad("timeout", std::to_string(seconds) + " s", "more than 0 and at most 10 years");
  }
  spec.timeout = std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
  return {};
}

Result<void> take_rest(const v1::JobSpec& message, policy::JobSpec& spec) {
  if (auto taken = take_place(message, spec); !taken) return taken;
  if (message.name().size() > kJobTextMax || message.class_().size() > kJobTextMax) {
    return bad("name", "a name or class of more than 256 bytes", "at most 256");
  }
  spec.name = message.name();
  spec.job_class = message.class_();
  if (auto taken = take_limits(message, spec); !taken) return taken;
  if (!is_priority(message.priority())) {
    return bad("priority", std::to_string(message.priority()), kPriorityRange);
  }
  spec.priority = message.priority();
  auto weight = weight_of("job.weight", message.weight());
  if (!weight) return pass(std::move(weight));
  spec.limits.cpu_weight = *weight;
  spec.restartable = message.restartable();
  return take_timeout(message, spec);
}

}  // namespace

Result<JobRequest> read_run_request(std::string_view message) {
  auto parts = parts_of(message);
  if (!parts) return pass(std::move(parts));
  v1::JobSpec rest;
  if (!rest.ParseFromString(parts->rest)) return not_a_request();
  JobRequest order;
  if (auto taken = take_rest(rest, order.spec); !taken) return pass(std::move(taken));
  order.spec.command = parts->argv.take();
  order.environment = environment_of(*parts);
  return order;
}

}  // namespace plimsoll::daemon
