#include "guardian/protocol.h"

#include <cstring>

namespace plimsoll::guardian {
namespace {

enum class Tag : char {
  started = 'S',
  start_failed = 'F',
  exited = 'X',
  signalled = 's',
  resumed = 'r',
  spawn = 'p',
  hand_over = 'h',
  stop_yourself = 'z',
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
};

struct Sender {
  const Channel& channel;

  Result<void> operator()(const Started& m) const {
    return channel.send(tagged(Tag::started, StartedBody{m.id, m.pid}), {m.pidfd.get()});
  }
  Result<void> operator()(const StartFailed& m) const {
    return channel.send(tagged(Tag::start_failed, m), {});
  }
  Result<void> operator()(const Exited& m) const {
    return channel.send(tagged(Tag::exited, m), {});
  }
  Result<void> operator()(const Signalled& m) const {
    return channel.send(tagged(Tag::signalled, m), {});
  }
  Result<void> operator()(const Resumed& m) const {
    return channel.send(tagged(Tag::resumed, m), {});
  }
};

tl::unexpected<Error> bad(std::string_view from) {
  return fail(std::errc::bad_message, "read a message of the " + std::string(from));
}

// What of a Place goes as a descriptor.
constexpr char kHasLock = 'l';
constexpr char kNoLock = '-';
constexpr char kHasHome = 'H';

Result<FromSupervisor> decode_hand_over(Packet& packet) {
  // tag, home marker, one (version, lock marker) pair a place, then the name
  const std::string& bytes = packet.bytes;
  if (bytes.size() < 3) return bad("supervisor");
  const auto places = static_cast<std::size_t>(static_cast<unsigned char>(bytes[2]));
  const std::size_t name_at = 3 + 2 * places;
  if (bytes.size() < name_at) return bad("supervisor");
  HandOver message;
  message.name = bytes.substr(name_at);
  std::size_t next = 0;
  const auto take = [&] {
    return next < packet.fds.size() ? std::move(packet.fds[next++]) : UniqueFd();
  };
  if (bytes[1] == kHasHome) message.home_procs = take();
  for (std::size_t i = 0; i < places; ++i) {
    HandOver::Place place;
    place.version = bytes[3 + 2 * i] == '2' ? cgroup::Version::v2 : cgroup::Version::v1;
    place.base = take();
    if (bytes[4 + 2 * i] == kHasLock) place.lock = take();
    message.places.push_back(std::move(place));
  }
  return message;
}

}  // namespace

Result<void> send(const Channel& channel, const FromGuardian& message) {
  return std::visit(Sender{channel}, message);
}

Result<FromGuardian> decode_from_guardian(Packet packet) {
  if (packet.bytes.empty()) return bad("guardian");
  const auto tag = static_cast<Tag>(packet.bytes.front());
  if (tag == Tag::started) {
    StartedBody body;
    if (!read_body(packet.bytes, body) || packet.fds.size() != 1) return bad("guardian");
    return Started{body.id, body.pid, std::move(packet.fds.front())};
  }
  const auto plain = [&packet]<class Message>(Message message) -> Result<FromGuardian> {
    if (!read_body(packet.bytes, message)) return bad("guardian");
    return message;
  };
  if (tag == Tag::start_failed) return plain(StartFailed{});
  if (tag == Tag::exited) return plain(Exited{});
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
  bytes += message.home_procs ? kHasHome : kNoLock;
  bytes += static_cast<char>(message.places.size());
  if (message.home_procs) fds.push_back(message.home_procs.get());
  for (const HandOver::Place& place : message.places) {
    bytes += place.version == cgroup::Version::v2 ? '2' : '1';
    bytes += place.lock ? kHasLock : kNoLock;
    fds.push_back(place.base.get());
    if (place.lock) fds.push_back(place.lock.get());
  }
  return channel.send(bytes + message.name, fds);
}

Result<void> send(const Channel& channel, StopYourself message) {
  return channel.send(tagged(Tag::stop_yourself, message), {});
}

Result<FromSupervisor> decode_from_supervisor(Packet& packet) {
  if (packet.bytes.empty()) return bad("supervisor");
  const auto tag = static_cast<Tag>(packet.bytes.front());
  if (tag == Tag::spawn) {
    packet.bytes.erase(0, 1);
    auto spawn = decode(packet.bytes, std::move(packet.fds));
    if (!spawn) return pass(std::move(spawn));
    return std::move(*spawn);
  }
  if (tag == Tag::hand_over) return decode_hand_over(packet);
  if (tag == Tag::stop_yourself) return StopYourself{};
  return bad("supervisor");
}

}  // namespace plimsoll::guardian
