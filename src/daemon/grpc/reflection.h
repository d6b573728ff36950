#pragma once

#include <memory>
#include <string>
#include <vector>

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

// Describes the services of one server to clients that have no copy of their descriptions
// (grpc.reflection.v1alpha). gRPC has a service for that, too, but that reads messages of any
// length and keeps the last of each stream.
class Reflection {
 public:
  // The full names of the services, but for this one and that of health.
  explicit Reflection(const std::vector<std::string>& services);
  Reflection(const Reflection&) = delete;
  Reflection& operator=(const Reflection&) = delete;
  ~Reflection();

  [[nodiscard]] grpc::Service* service();

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon
