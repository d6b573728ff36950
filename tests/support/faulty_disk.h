#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/disk.h"

namespace plimsoll::faults {

// What becomes of calls that would change the disk.
enum class Fault : std::uint8_t {
  no_space,     // until recover() nothing new is made, and a write gets half of its bytes down
  io_error,     // one fails
  interrupted,  // one fails with EINTR, if it is a write
  short_write,  // one writes half and says so
  power_loss,   // neither one nor any after it does anything; crash() is to follow
};
inline constexpr std::array kFaults = {Fault::no_space, Fault::io_error, Fault::interrupted,
                                       Fault::short_write, Fault::power_loss};

// What a crash leaves of names (new, renamed, gone) whose directory was not synced, and of bytes
// whose file was not: a file system may write either first.
enum class Names : std::uint8_t { synced, all };
enum class Data : std::uint8_t {
  synced,
  all,
  half,  // of what is new
  nuls,  // the size is there, the bytes are not
};
// How files are written: at their ends, or as databases are, where every sector that has not been
// written since it was synced survives, and the others get to the disk in any order.
enum class Writes : std::uint8_t { at_the_end, anywhere };
struct Survival {
  Names names;
  Data data;
};
inline constexpr std::array kSurvivals = {
    Survival{Names::synced, Data::synced}, Survival{Names::synced, Data::all},
    Survival{Names::synced, Data::half},   Survival{Names::synced, Data::nuls},
    Survival{Names::all, Data::synced},    Survival{Names::all, Data::all},
    Survival{Names::all, Data::half},      Survival{Names::all, Data::nuls}};

// A disk that fails where it is told to, and loses power. Its files are real ones in a directory of
// the test's own, so whatever reads them need not know.
//
// Invariant: now_ are the names below the directory, with the bytes that their files have;
// durable_ those that a crash can't take, with the bytes that were synced last. For one thread.
class FaultyDisk : public Disk {
 public:
  // What is in the directory is on the disk already.
  explicit FaultyDisk(std::string directory, Writes writes = Writes::at_the_end);

  // After so many further calls.
  void fail_after(std::size_t calls, Fault fault);
  // All calls are well from now on.
  void recover();
  [[nodiscard]] bool has_power() const {
    return fault_ != Fault::power_loss || calls_ <= fault_at_;
  }
  // Whether a call has met its fault.
  [[nodiscard]] bool has_failed() const { return calls_ > fault_at_; }
  // Of those that change something, made so far.
  [[nodiscard]] std::size_t calls() const { return calls_; }

  // What a loss of power now would leave: the bytes of each path, or nothing for a directory.
  using Remains = std::map<std::string, std::optional<std::string>>;
  [[nodiscard]] Remains after_crash(Survival survival) const;
  // The machine has lost its power and is on again. Whoever had files open is gone.
  void restore(const Remains& remains);
  void crash(Survival survival) { restore(after_crash(survival)); }

  int open(int dir, const std::string& name, int flags, mode_t mode) const override;
  int make_directory(int dir, const std::string& name, mode_t mode) const override;
  ssize_t write(int fd, const void* data, std::size_t size) const override;
  int truncate(int fd, off_t size) const override;
  int rename(int dir, const std::string& from, const std::string& to) const override;
  int link(int dir, const std::string& from, const std::string& to) const override;
  int unlink(int dir, const std::string& name) const override;
  int remove_directory(int dir, const std::string& name) const override;
  int sync(int fd) const override;

 private:
  struct Node {
    bool is_directory = false;
    std::string bytes, synced;
  };
  using Tree = std::map<std::string, std::shared_ptr<Node>>;  // by path
  using FileId = std::pair<dev_t, ino_t>;

  enum class Needs : std::uint8_t { nothing, space };

  // Counts a call. Whether it meets this fault, and the errno that it fails with; 0: it does not.
  [[nodiscard]] bool meets(Fault fault) const;
  [[nodiscard]] int refusal(Needs needs) const;
  [[nodiscard]] std::shared_ptr<Node> node_of(int fd) const;
  void look_again(int fd) const;
  static FileId id_of(int fd);
  static FileId id_of(const std::string& path);
  void read_tree();

  std::string directory_;
  Writes writes_;
  std::size_t fault_at_ = SIZE_MAX;
  Fault fault_ = Fault::io_error;
  mutable std::size_t calls_ = 0;
  mutable Tree now_, durable_;
  mutable std::map<FileId, std::shared_ptr<Node>> nodes_;
};

}  // namespace plimsoll::faults
