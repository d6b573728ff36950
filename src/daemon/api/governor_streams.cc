#include "daemon/api/governor_streams.h"

#include <utility>

namespace plimsoll::daemon {

GovernorStreams::~GovernorStreams() {
  const auto ended = std::exchange(streams_, {});
  for (const auto& [id, stream] : ended) stream.client->ends();
}

void GovernorStreams::open(StreamId id, const supervisor::Peer& peer,
                           std::shared_ptr<StreamClient> client) {
  const policy::Tenant user = supervisor::tenant_of(peer);
  if (auto room = quota_.check(user); !room) return client->too_many(room.error());
  quota_.take(user);
  Stream& stream = streams_[id];
  stream.user = user;
  stream.client = std::move(client);
  stream.session = std::make_unique<GovernorSession>(external_jobs_, peer, *stream.client);
}

void GovernorStreams::receive(StreamId id, const v1::GovernRequest& request) {
  const auto found = streams_.find(id);
  if (found != streams_.end()) found->second.session->receive(request);
}

// Taken out first: what the end of its jobs sets free is decided meanwhile.
void GovernorStreams::close(StreamId id) {
  const auto closed = streams_.extract(id);
  if (!closed.empty()) quota_.give_back(closed.mapped().user);
}

}  // namespace plimsoll::daemon
