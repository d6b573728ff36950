#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "guardian/protocol.h"
#include "guardian/spawn_request.h"

using plimsoll::UniqueFd;

// Any bytes that the guardian could be sent, with up to seven descriptors (the first byte says how
// many), and any that it could send.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto descriptors = [count = data[0] % 8] {
    std::vector<UniqueFd> fds;
    for (int i = 0; i < count; ++i) fds.emplace_back(::fcntl(0, F_DUPFD_CLOEXEC, 3));
    return fds;
  };
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  {
    std::string request = bytes;
    const auto spawn = plimsoll::guardian::decode(request, descriptors());
    if (spawn && spawn->argv.front() == nullptr) __builtin_trap();
  }
  plimsoll::guardian::Packet packet{bytes, descriptors()};
  (void)plimsoll::guardian::decode_from_supervisor(packet);
  (void)plimsoll::guardian::decode_from_guardian({bytes, descriptors()});
  return 0;
}
