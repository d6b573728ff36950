#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace plimsoll::daemon {

// The connections over TCP that gRPC has: it counts none of them, and a server without a limit
// gives all its descriptors to whoever connects. A connection is a stranger's until its first call,
// which only comes with a certificate that was checked; from then on it is that certificate's.
//
// From any thread.
class TlsConnections {
 public:
  // At once, and of one address (of IPv6, of one network of 64 bits); for another the oldest ends.
  static constexpr std::size_t kStrangersMax = 64;
  static constexpr std::size_t kStrangersOfAddressMax = 16;
  // From the connection to the first call: a handshake takes some round trips.
  static constexpr Duration kStrangerTime = std::chrono::seconds(10);
  // Of all certificates, and of one; one more is ended.
  static constexpr std::size_t kKnownMax = 448;
  static constexpr std::size_t kOfCertificateMax = 64;

  // One that was just accepted, before gRPC has it. An error: it can't be told from another one, or
  // there is no descriptor to be had.
  Result<void> add(int socket, Instant now);
  // Ends the strangers whose time is over. When to look again; Instant::max(): when another comes.
  Instant look(Instant now);

  // So many calls are open of one certificate, for who counts them; more are to be cancelled, as
  // each takes some 20 KiB of memory that nothing else bounds.
  using OpenCalls = std::atomic<std::size_t>;
  static constexpr std::size_t kCallsOfCertificateMax = 4096;

  // A call has come from there, in gRPC's words, with a certificate of this name. The open calls of
  // that certificate; null: its connection is ended, or is none that is known.
  std::shared_ptr<OpenCalls> called(std::string_view peer, const std::string& certificate);
  // The number of the certificate with which calls come from there; 0: not known. A name whose last
  // connection has closed may have another number later.
  [[nodiscard]] std::uint32_t certificate_of(std::string_view peer) const;

  // So many are open.
  [[nodiscard]] std::size_t strangers() const;
  [[nodiscard]] std::size_t known() const;

 private:
  struct Certificate {
    std::uint32_t number = 0;
    std::size_t connections = 0;
    std::shared_ptr<OpenCalls> calls = std::make_shared<OpenCalls>(0);
  };
  using Certificates = std::map<std::string, Certificate>;
  // gRPC tells of no end: its descriptor's number is another socket's by then, or nobody's.
  struct Connection {
    int number = -1;
    ino_t socket = 0;
    std::string address;
    Instant due{};
    UniqueFd
        own{};  // of a stranger's: the same socket, so that no other one is ended instead of it
    Certificates::iterator certificate{};  // of one that is known

    [[nodiscard]] bool is_known() const { return !own; }
    [[nodiscard]] bool is_open() const;
  };
  using Connections = std::map<std::string, Connection>;  // by the other end's address and port

  void end_oldest(const std::string* address);
  Connections::iterator forget(Connections::iterator place);
  void forget_closed();
  [[nodiscard]] std::size_t count_strangers(const std::string* address) const;
  [[nodiscard]] std::size_t count_known() const { return open_.size() - count_strangers(nullptr); }

  mutable std::mutex mutex_;
  Connections open_;           // and some that are closed
  Certificates certificates_;  // of those
  std::uint32_t last_number_ = 0;
};

}  // namespace plimsoll::daemon
