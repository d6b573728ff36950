#include "guardian/protocol.h"

#include <array>
#include <csignal>
#include <cstring>

namespace plimsoll::guardian {
namespace {

enum class Tag : char {
  started = 'S',
  start_failed = 'F',
  exited = 'X',
  escaped = 'e',
  signalled = 's',
  resumed = 'r',
  spawn = 'p',
  hand_over = 'h',
  hand_over_families = 'f',
  over = 'o',
  stop_yourself = 'z',
  stand_watch = 'w',
  die_of = 'd',
  notify = 'n',
};

template <class Body>
std::string tagged(Tag tag, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body>);
  std::string bytes(1, static_cast<char>(tag));
  bytes.append(reinterpret_cast<const char*>(&body), sizeof body);
  return bytes;
}

template <class Body>
bool read_body(const std::string& bytes, Body& body) {
  static_assert(std::is_trivially_copyable_v<Body>);
  if (bytes.size() != 1 + sizeof body) return false;
  std::memcpy(&body, bytes.data() + 1, sizeof body);
  return true;
}

struct StartedBody {
  ChildId id{};
  pid_t pid{};
  Birth birth{};
};

// An Escaped on the wire: its id, then so many of these.
struct EscapeeBody {
  pid_t pid{};
  std::array<char, 16> comm{};  // TASK_COMM_LEN
  std::uint8_t lives = 0;
};

std::string bytes_of(const Escaped& message) {
  std::string bytes = tagged(Tag::escaped, message.id);
  for (const Escapee& escapee : message.processes) {
    EscapeeBody body{escapee.pid, {}, static_cast<std::uint8_t>(escapee.lives ? 1 : 0)};
    escapee.comm.copy(body.comm.data(), body.comm.size() - 1);
    bytes.append(reinterpret_cast<const char*>(&body), sizeof body);
  }
  return bytes;
}

struct Sender {
  const Channel& channel;

  Result<void> operator()(const Started& m) const {
    return channel.try_send(tagged(Tag::started, StartedBody{m.id, m.pid, m.birth}),
                            {m.pidfd.get()});
  }
  Result<void> operator()(const StartFailed& m) const {
    return channel.try_send(tagged(Tag::start_failed, m), {});
  }
  Result<void> operator()(const Exited& m) const {
    return channel.try_send(tagged(Tag::exited, m), {});
  }
  Result<void> operator()(const Escaped& m) const { return channel.try_send(bytes_of(m), {}); }
  Result<void> operator()(const Signalled& m) const {
    return channel.try_send(tagged(Tag::signalled, m), {});
  }
  Result<void> operator()(const Resumed& m) const {
    return channel.try_send(tagged(Tag::resumed, m), {});
  }
};

tl::unexpected<Error> bad(std::string_view from) {
  return fail(std::errc::bad_message, "read a message of the " + std::string(from));
}

// A HandOver on the wire: this, `places` times PlaceBody and its `named`, then the name.
// Descriptors in the order home, and for each place base, lock.
struct HandOverBody {
  std::uint8_t has_home = 0;
  std::uint8_t places = 0;
};
struct PlaceBody {
  cgroup::Version version{};
  std::uint8_t has_lock = 0;
  std::uint16_t named_size = 0;
  cgroup::ControllerSet controllers;
};

// Takes a T off the front of `bytes`; false if they are too few.
template <class T>
bool take(std::string_view& bytes, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Result<FromSupervisor> decode_hand_over(Packet& packet) {
  std::string_view rest = std::string_view(packet.bytes).substr(1);
  std::size_t next = 0;
  bool all_there = true;
  const auto take_fd = [&] {
    all_there = all_there && next < packet.fds.size();
    return all_there ? std::move(packet.fds[next++]) : UniqueFd();
  };
  HandOver message;
  HandOverBody body;
  if (!take(rest, body)) return bad("supervisor");
  if (body.has_home != 0) message.home_procs = take_fd();
  for (unsigned i = 0; i < body.places; ++i) {
    PlaceBody place;
    if (!take(rest, place) || rest.size() < place.named_size) return bad("supervisor");
    std::string named(rest.substr(0, place.named_size));
    rest.remove_prefix(place.named_size);
    UniqueFd base = take_fd();
    UniqueFd lock = place.has_lock != 0 ? take_fd() : UniqueFd();
    message.places.push_back(
        {place.version, place.controllers, std::move(base), std::move(lock), std::move(named)});
  }
  if (!all_there || next != packet.fds.size()) return bad("supervisor");
  message.name = rest;
  return message;
}

// A HandOverFamilies on the wire: this, the foreign ones, then the run's name.
struct FamiliesBody {
  procfs::Id guardian;
  procfs::Id supervisor;
  std::uint64_t space = 0;
  std::uint64_t foreign = 0;
};

Result<FromSupervisor> decode_families(const Packet& packet) {
  std::string_view rest = std::string_view(packet.bytes).substr(1);
  FamiliesBody body;
  if (!take(rest, body)) return bad("supervisor");
  HandOverFamilies message{{.guardian = body.guardian,
                            .supervisor = body.supervisor,
                            .run = {},
                            .space = body.space,
                            .foreign = {}}};
  for (std::uint64_t i = 0; i < body.foreign; ++i) {
    procfs::Id id;
    if (!take(rest, id)) return bad("supervisor");
    message.run.foreign.push_back(id);
  }
  message.run.run = rest;
  return message;
}

Result<FromGuardian> decode_escaped(const Packet& packet) {
  std::string_view rest = std::string_view(packet.bytes).substr(1);
  Escaped message;
  if (!take(rest, message.id)) return bad("guardian");
  while (!rest.empty()) {
    EscapeeBody body;
    if (!take(rest, body)) return bad("guardian");
    body.comm.back() = '\0';
    message.processes.push_back({body.pid, body.comm.data(), body.lives != 0});
  }
  return message;
}

}  // namespace

bool asks_to_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

Result<void> send(const Channel& channel, const FromGuardian& message) {
  return std::visit(Sender{channel}, message);
}

Result<FromGuardian> decode_from_guardian(Packet packet) {
  if (packet.bytes.empty()) return bad("guardian");
  const auto tag = static_cast<Tag>(packet.bytes.front());
  if (tag == Tag::started) {
    StartedBody body;
    if (!read_body(packet.bytes, body) || packet.fds.size() != 1) return bad("guardian");
    return Started{body.id, body.pid, body.birth, std::move(packet.fds.front())};
  }
  const auto plain = [&packet]<class Message>(Message message) -> Result<FromGuardian> {
    if (!read_body(packet.bytes, message)) return bad("guardian");
    return message;
  };
  if (tag == Tag::start_failed) return plain(StartFailed{});
  if (tag == Tag::exited) return plain(Exited{});
  if (tag == Tag::escaped) return decode_escaped(packet);
  if (tag == Tag::signalled) return plain(Signalled{});
  if (tag == Tag::resumed) return plain(Resumed{});
  return bad("guardian");
}

Result<void> send(const Channel& channel, const SpawnRequest& request) {
  EncodedSpawn encoded = encode(request);
  encoded.bytes.insert(encoded.bytes.begin(), static_cast<char>(Tag::spawn));
  return channel.send(encoded.bytes, encoded.fds);
}

Result<void> send(const Channel& channel, const HandOver& message) {
  std::string bytes(1, static_cast<char>(Tag::hand_over));
  std::vector<int> fds;
  append(bytes, HandOverBody{static_cast<std::uint8_t>(message.home_procs ? 1 : 0),
                             static_cast<std::uint8_t>(message.places.size())});
  if (message.home_procs) fds.push_back(message.home_procs.get());
  for (const HandOver::Place& place : message.places) {
    append(bytes, PlaceBody{place.version, static_cast<std::uint8_t>(place.lock ? 1 : 0),
                            static_cast<std::uint16_t>(place.named.size()), place.controllers});
    bytes += place.named;
    fds.push_back(place.base.get());
    if (place.lock) fds.push_back(place.lock.get());
  }
  return channel.send(bytes + message.name, fds);
}

Result<void> send(const Channel& channel, const HandOverFamilies& message) {
  std::string bytes(1, static_cast<char>(Tag::hand_over_families));
  append(bytes, FamiliesBody{message.run.guardian, message.run.supervisor, message.run.space,
                             message.run.foreign.size()});
  for (const procfs::Id& id : message.run.foreign) append(bytes, id);
  return channel.send(bytes + message.run.run, {});
}

Result<void> send(const Channel& channel, Over message) {
  return channel.send(tagged(Tag::over, message), {});
}

Result<void> send(const Channel& channel, StopYourself message) {
  return channel.send(tagged(Tag::stop_yourself, message), {});
}

Result<void> send(const Channel& channel, StandWatch message) {
  return channel.send(tagged(Tag::stand_watch, message), {});
}

Result<void> send(const Channel& channel, DieOf message) {
  return channel.send(tagged(Tag::die_of, message), {});
}

Result<void> send(const Channel& channel, const Notify& message) {
  return channel.send(std::string(1, static_cast<char>(Tag::notify)) + message.state, {});
}

Result<FromSupervisor> decode_from_supervisor(Packet& packet) {
  if (packet.bytes.empty()) return bad("supervisor");
  const auto tag = static_cast<Tag>(packet.bytes.front());
  if (tag == Tag::spawn && packet.is_torn) {
    LostSpawn lost;  // the id comes first, as encode() has it
    std::string_view rest = std::string_view(packet.bytes).substr(1);
    if (!take(rest, lost)) return bad("supervisor");
    return lost;
  }
  if (tag == Tag::spawn) {
    packet.bytes.erase(0, 1);
    auto spawn = decode(packet.bytes, std::move(packet.fds));
    if (!spawn) return pass(std::move(spawn));
    return std::move(*spawn);
  }
  if (tag == Tag::hand_over) return decode_hand_over(packet);
  if (tag == Tag::hand_over_families) return decode_families(packet);
  if (tag == Tag::stop_yourself) return StopYourself{};
  if (tag == Tag::stand_watch) return StandWatch{};
  if (tag == Tag::notify) return Notify{packet.bytes.substr(1)};
  if (Over over; tag == Tag::over && read_body(packet.bytes, over)) return over;
  DieOf death;
  if (tag == Tag::die_of && read_body(packet.bytes, death) && asks_to_end(death.signal)) {
    return death;
  }
  return bad("supervisor");
}

}  // namespace plimsoll::guardian
