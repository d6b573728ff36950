#include "supervisor/light/job_commands.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace plimsoll::supervisor {

struct JobCommands::Client {
  Peer peer;
  ExternalListener* listener = nullptr;
  std::optional<ExternalSpec> asked{};  // once it has entered
  std::optional<JobId> command{};       // the present one; it may be gone by now
  unsigned attempts = 0;                // that were admitted
  unsigned lost = 0;                    // that were killed to free memory
  bool may_come_again = false;          // it was told so
  bool has_left = false;                // its process has ended
  bool awaits_end = false;              // and it is to be told whether the kernel has killed it
};

struct JobCommands::Command {
  enum class State : std::uint8_t { moving, waiting, running, over };

  ClientId client{};
  policy::JobSpec spec;
  State state = State::moving;
  bool is_unwanted = false;  // since it began to move
  std::string why{};         // of the last event about it
};

JobCommands::JobCommands(JobCommandsHost& host, std::size_t most) : host_(host), most_(most) {}
JobCommands::~JobCommands() = default;

ClientId JobCommands::open(const Peer& peer, ExternalListener& listener) {
  const ClientId id{++last_client_};
  clients_.emplace(id, std::make_unique<Client>(Client{.peer = peer, .listener = &listener}));
  return id;
}

void JobCommands::close(ClientId id) {
  const auto client = clients_.extract(id);
  if (client.empty()) return;
  const Client& was = *client.mapped();
  if (was.command && !was.has_left) end(*was.command, "its launcher has ended");
}

JobCommands::Client* JobCommands::client_of(const Command& command) {
  const auto found = clients_.find(command.client);
  return found == clients_.end() ? nullptr : found->second.get();
}

// The launcher and the process that it names are part of the same: nobody has others moved.
Result<const policy::JobSpec*> JobCommands::job_of(const Client& client,
                                                   const ExternalLocation& place) {
  const auto* process = std::get_if<ProcessPlace>(&place);
  if (process == nullptr) {
    return fail(std::errc::invalid_argument, "found a cgroup, expected a process");
  }
  auto of_launcher = host_.job_of(client.peer.pid);
  if (!of_launcher) return of_launcher;
  const policy::JobSpec* job = *of_launcher;
  auto of_process = host_.job_of(process->pid);
  if (of_process && *of_process != job) {
    return fail(std::errc::permission_denied, "the process is part of another job");
  }
  return of_process;
}

Result<void> JobCommands::enter(ClientId id, const ExternalSpec& spec) {
  Client& client = *clients_.at(id);
  if (client.asked) return fail(std::errc::invalid_argument, "a connection is for one command");
  if (!spec.place || spec.command.empty()) {
    return fail(std::errc::invalid_argument, "found no process or no command");
  }
  if (commands_.size() >= most_) {
    return fail(std::errc::not_enough_memory, "found " + std::to_string(commands_.size()) +
                                                  " commands of this run, expected at "
                                                  "most " +
                                                  std::to_string(most_));
  }
  client.asked = spec;
  return begin(id, client, *spec.place);
}

Result<void> JobCommands::watch(ClientId id, const std::string& /*name*/,
                                const ExternalLocation& place) {
  Client& client = *clients_.at(id);
  if (!std::exchange(client.may_come_again, false)) {
    return fail(std::errc::operation_in_progress, "no further attempt was promised");
  }
  client.has_left = false;
  return begin(id, client, place);
}

Result<void> JobCommands::begin(ClientId id, Client& client, const ExternalLocation& place) {
  auto job = job_of(client, place);
  if (!job) return pass(std::move(job));
  auto command = std::make_unique<Command>();
  command->client = id;
  command->spec = spec_for(client, *job);
  if (client.lost == 0 && host_.passes(command->spec, std::get<ProcessPlace>(place).pid)) {
    return fail(std::errc::operation_canceled, "it is small, and need not wait");
  }
  const JobId known = command->spec.id;
  client.command = known;
  commands_.emplace(known, std::move(command));
  host_.place(known, std::get<ProcessPlace>(place).pid);
  return {};
}

// `job`: that it is part of; null: none.
policy::JobSpec JobCommands::spec_for(const Client& client, const policy::JobSpec* job) {
  const ExternalSpec& asked = *client.asked;
  policy::JobSpec spec;
  spec.id = host_.next_id();
  spec.name = std::to_string(static_cast<std::uint64_t>(spec.id));
  spec.may_be_awaited = job == nullptr;  // it is a step
  if (job != nullptr) {
    spec.part_of = job->id;
    spec.name = job->name + "/" + std::filesystem::path(asked.command.front()).filename().string();
    spec.priority = job->priority;
  }
  spec.job_class = asked.job_class;
  spec.command = asked.command;
  spec.cwd = asked.cwd;
  spec.memory_hint = asked.memory_hint;
  spec.restartable = asked.restartable && client.lost < policy::kLostAttemptsMax;
  spec.restarts = 0;  // it comes again by itself
  spec.lost = client.lost;
  return spec;
}

void JobCommands::placed(JobId id, const Result<void>& how) {
  const auto found = commands_.find(id);
  Command& command = *found->second;
  if (how && !command.is_unwanted) {
    command.state = Command::State::waiting;
    host_.enter(command.spec);
    const auto waiting = commands_.find(id);
    if (waiting == commands_.end() || waiting->second->state != Command::State::waiting) return;
    return host_.freeze(id);
  }
  if (how) host_.discard(id);
  Client* client = client_of(command);
  commands_.erase(found);
  if (client != nullptr) {
    client->listener->on_left({}, Again::never,
                              how ? "it is not wanted any more" : how.error().message());
  }
}

void JobCommands::started(JobId id) {
  Command& command = *commands_.at(id);
  command.state = Command::State::running;
  Client* client = client_of(command);
  if (client == nullptr) return;
  client->listener->on_admit(command.spec.name, ++client->attempts, command.why);
}

void JobCommands::on_event(const policy::Event& event) {
  const auto found = event.job ? commands_.find(*event.job) : commands_.end();
  if (found == commands_.end()) return;
  Command& command = *found->second;
  command.why = event.reason;
  Client* client = client_of(command);
  if (client == nullptr) return;
  const std::string& name = command.spec.name;
  if (event.kind == policy::EventKind::held && event.hold) {
    client->listener->on_hold(name, *event.hold, event.reason);
  } else if (event.kind == policy::EventKind::evicted) {
    ++client->lost;
    client->may_come_again = command.spec.restartable;
    client->listener->on_cancel(name, policy::Outcome::evicted, event.reason,
                                client->may_come_again ? Again::later : Again::never);
  } else if (event.kind == policy::EventKind::failed) {
    client->listener->on_cancel(name, policy::Outcome::over_line, event.reason, Again::never);
  }
}

void JobCommands::on_job_over(const policy::JobOver& over) {
  const auto found = commands_.find(over.job);
  Command& command = *found->second;
  command.state = Command::State::over;
  Client* client = client_of(command);
  if (over.end) {
    if (client != nullptr && client->command == over.job) tell_end(*client, command.spec, over);
    return;
  }
  host_.discard(over.job);
  commands_.erase(found);
  if (client != nullptr) client->listener->on_left({}, Again::never, over.reason);
}

// Nobody has told it before of what the kernel does.
void JobCommands::tell_end(Client& client, const policy::JobSpec& command,
                           const policy::JobOver& over) {
  const bool awaits_end = std::exchange(client.awaits_end, false);
  if (over.end->outcome == policy::Outcome::machine_oom && !client.may_come_again) {
    ++client.lost;
    client.may_come_again = command.restartable;
    client.listener->on_cancel(command.name, over.end->outcome, over.reason,
                               command.restartable ? Again::later : Again::never);
    if (!client.may_come_again) return;
  }
  if (client.may_come_again) {
    client.listener->on_left(command.name, Again::later, over.reason);
  } else if (awaits_end) {
    client.listener->on_left(command.name, Again::never, {});
  }
}

void JobCommands::gone(JobId id) { commands_.erase(id); }

// What a process leaves behind lives on, and is looked at as before.
Result<void> JobCommands::leave(ClientId id, const std::string& name, const ExternalEnd& how) {
  Client& client = *clients_.at(id);
  if (!client.command) return fail(std::errc::invalid_argument, "found no command that could end");
  client.has_left = true;
  const auto found = commands_.find(*client.command);
  const bool has_begun = found == commands_.end() ||
                         found->second->state == Command::State::running ||
                         found->second->state == Command::State::over;
  if (!has_begun) {
    end(*client.command, "its launcher has withdrawn it");
  } else if (!client.may_come_again) {
    const bool has_failed = !policy::succeeded(how.outcome, how.exit_code);
    client.awaits_end =
        has_failed && found != commands_.end() && found->second->state == Command::State::running;
    if (client.awaits_end && host_.is_ending(found->first)) return {};
    client.awaits_end = false;
    client.listener->on_left(name, Again::never, {});
  }
  return {};
}

void JobCommands::end(JobId id, const std::string& reason) {
  const auto found = commands_.find(id);
  if (found == commands_.end()) return;
  switch (found->second->state) {
    case Command::State::moving: found->second->is_unwanted = true; break;
    case Command::State::waiting: host_.withdraw(id, reason); break;
    case Command::State::running: host_.kill(id, reason); break;
    case Command::State::over: break;
  }
}

void JobCommands::end_those_of(JobId job) {
  std::vector<JobId> all;
  for (const auto& [id, command] : commands_) {
    if (command->spec.part_of == job) all.push_back(id);
  }
  for (const JobId id : all) end(id, "its job has ended");
}

void JobCommands::end_all(const std::string& reason) {
  std::vector<JobId> all;
  for (const auto& [id, command] : commands_) all.push_back(id);
  for (const JobId id : all) end(id, reason);
}

const policy::JobSpec* JobCommands::spec_of(JobId command) const {
  const auto found = commands_.find(command);
  return found == commands_.end() ? nullptr : &found->second->spec;
}

}  // namespace plimsoll::supervisor
