#include "guardian/spawn_request.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace plimsoll::guardian {
namespace {

class Writer {
 public:
  explicit Writer(std::size_t bytes) { bytes_.reserve(bytes); }

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_string(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
    bytes_ += '\0';
  }
  // In a block each has its size before it and a NUL byte after it, too.
  void put_words(const Words& words) {
    put(static_cast<std::uint32_t>(words.size()));
    bytes_.append(words.block());
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads in the order of writing; once something is missing, everything after is and ok() is false.
class Reader {
 public:
  explicit Reader(std::string& bytes) : next_(bytes.data()), left_(bytes.size()) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const char* from = advance(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  char* get_string() {
    const auto size = get<std::uint32_t>();
    char* text = advance(std::size_t{size} + 1);
    if (text == nullptr || text[size] != '\0' || std::memchr(text, '\0', size) != nullptr) {
      ok_ = false;
      return nullptr;
    }
    return text;
  }
  std::vector<char*> get_strings() {
    std::vector<char*> texts;
    const auto count = get<std::uint32_t>();
    texts.reserve(std::min<std::size_t>(count, left_ / Words::kAround) + 1);
    for (std::uint32_t i = 0; ok_ && i < count; ++i) texts.push_back(get_string());
    texts.push_back(nullptr);
    return texts;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && left_ == 0; }

 private:
  char* advance(std::size_t size) {
    if (!ok_ || size > left_) {
      ok_ = false;
      return nullptr;
    }
    left_ -= size;
    return std::exchange(next_, next_ + size);
  }

  char* next_;
  std::size_t left_;
  bool ok_ = true;
};

void put_identity(Writer& writer, const std::optional<Identity>& identity) {
  writer.put(static_cast<std::uint8_t>(identity ? 1 : 0));
  if (!identity) return;
  writer.put(identity->uid);
  writer.put(identity->gid);
  writer.put(static_cast<std::uint32_t>(identity->groups.size()));
  for (const gid_t group : identity->groups) writer.put(group);
}

std::optional<Identity> get_identity(Reader& reader) {
  if (reader.get<std::uint8_t>() == 0) return std::nullopt;
  Identity identity;
  identity.uid = reader.get<uid_t>();
  identity.gid = reader.get<gid_t>();
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; reader.ok() && i < count; ++i) {
    identity.groups.push_back(reader.get<gid_t>());
  }
  return identity;
}

// Which of the optional descriptors came along; bits 0..2 are stdio.
constexpr unsigned kV2GroupBit = 3;
constexpr unsigned kExecListenerBit = 4;

}  // namespace

std::string_view name_of(SpawnStep step) {
  switch (step) {
    case SpawnStep::clone: return "make a process";
    case SpawnStep::enter_group: return "enter the group";
    case SpawnStep::session: return "start a session";
    case SpawnStep::rlimit: return "set a resource limit";
    case SpawnStep::stdio: return "connect standard input and output";
    case SpawnStep::root: return "change the root directory";
    case SpawnStep::identity: return "become the user";
    case SpawnStep::working_directory: return "enter the working directory";
    case SpawnStep::exec_filter: return "install the seccomp filter that reports execs";
    case SpawnStep::exec: return "execute";
  }
  return {};
}

EncodedSpawn encode(const SpawnRequest& request) {
  // The rest is a few paths and numbers; a caller may put a byte before it.
  constexpr std::size_t kRestBytes = 1024;
  Writer writer(request.argv.block().size() + request.plain.block().size() +
                request.env.block().size() + kRestBytes);
  EncodedSpawn encoded;
  std::uint8_t present = 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (!request.stdio[i]) continue;
    present |= static_cast<std::uint8_t>(1U << i);
    encoded.fds.push_back(*request.stdio[i]);
  }
  if (request.v2_group) {
    present |= static_cast<std::uint8_t>(1U << kV2GroupBit);
    encoded.fds.push_back(*request.v2_group);
  }
  if (request.exec_listener) {
    present |= static_cast<std::uint8_t>(1U << kExecListenerBit);
    encoded.fds.push_back(*request.exec_listener);
  }
  encoded.fds.insert(encoded.fds.end(), request.v1_entrances.begin(), request.v1_entrances.end());

  writer.put(request.id);
  writer.put(present);
  writer.put(request.session);
  writer.put(request.descriptors);
  writer.put(request.signals);
  writer.put(request.guardian_death);
  writer.put(static_cast<std::uint8_t>(request.umask ? 1 : 0));
  writer.put(request.umask.value_or(0));
  put_identity(writer, request.identity);
  writer.put(static_cast<std::uint32_t>(request.rlimits.size()));
  for (const ResourceLimit& limit : request.rlimits) writer.put(limit);
  writer.put_string(request.executable);
  writer.put_string(request.root);
  writer.put_string(request.cwd);
  writer.put_words(request.argv);
  writer.put_words(request.plain);
  writer.put_words(request.env);
  encoded.bytes = writer.take();
  return encoded;
}

Result<ReceivedSpawn> decode(std::string& bytes, std::vector<UniqueFd> fds) {
  Reader reader(bytes);
  ReceivedSpawn spawn;
  spawn.id = reader.get<ChildId>();
  const auto present = reader.get<std::uint8_t>();
  spawn.session = reader.get<Session>();
  spawn.descriptors = reader.get<Descriptors>();
  spawn.signals = reader.get<Signals>();
  spawn.guardian_death = reader.get<GuardianDeath>();
  const bool has_umask = reader.get<std::uint8_t>() != 0;
  const auto umask = reader.get<mode_t>();
  if (has_umask) spawn.umask = umask;
  spawn.identity = get_identity(reader);
  const auto limits = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; reader.ok() && i < limits; ++i) {
    spawn.rlimits.push_back(reader.get<ResourceLimit>());
  }
  spawn.executable = reader.get_string();
  spawn.root = reader.get_string();
  spawn.cwd = reader.get_string();
  spawn.argv = reader.get_strings();
  spawn.plain = reader.get_strings();
  spawn.env = reader.get_strings();
  if (!reader.at_end() || spawn.argv.front() == nullptr) {
    return fail(std::errc::bad_message, "read a spawn request");
  }

  const auto expected = static_cast<std::size_t>(std::popcount(present));
  if (present >> (kExecListenerBit + 1) != 0 || fds.size() < expected) {
    return fail(std::errc::bad_message, "read the descriptors of a spawn request");
  }
  std::size_t next = 0;
  const auto take = [&fds, &next] { return std::move(fds[next++]); };
  for (unsigned i = 0; i < 3; ++i) {
    if ((present >> i & 1U) != 0) spawn.stdio[i] = take();
  }
  if ((present >> kV2GroupBit & 1U) != 0) spawn.v2_group = take();
  if ((present >> kExecListenerBit & 1U) != 0) spawn.exec_listener = take();
  while (next < fds.size()) spawn.v1_entrances.push_back(take());
  return spawn;
}

}  // namespace plimsoll::guardian
