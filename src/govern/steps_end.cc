#include <utility>

#include "govern/step.h"
#include "govern/steps.h"

// Steps that are to end, and those that go on without the scheduler.
namespace plimsoll::govern {

// It lasts until its last process has ended, as one that runs does: whoever came along waits on.
void Steps::main_ended(Step& step) {
  const JobId id = step.id;
  step.death = {};
  step.birth = supervisor_.loop().timer([this, id] { look_if_empty(id); });
  look_if_empty(id);
}

void Steps::look_if_empty(JobId id) {
  const auto found = steps_.find(id);
  if (found == steps_.end() || found->second->state != Step::State::waiting) return;
  Step& step = *found->second;
  if (!step.place->is_populated()) return withdraw(step, "it has ended");
  step.birth.set(loop::now() + kEmptyLook);
}

// What waits goes on without the scheduler.
void Steps::withdraw(Step& step, const std::string& why) {
  if (step.state != Step::State::waiting) return;
  const JobId id = step.id;
  step.state = Step::State::withdrawn;
  let_go(step);
  const auto spare = spares_.find(step.exec.process.pid);
  const bool is_kept = spare != spares_.end() && spare->second.place == step.place;
  if (!is_kept) step.place->remove();
  // One that ends by now has been told.
  [[maybe_unused]] const auto withdrawn = scheduler_.scheduler().withdraw(id, why);
}

// Its job ends when its place is empty. One that is on its way to its place comes back from there.
void Steps::release(JobId id, const std::function<void()>& then) {
  // A shell that has only begun a build tool would teach that its text needs next to nothing.
  scheduler_.scheduler().disregard(id);
  if (launched_.has(id)) {
    // One that has not started executes nothing.
    const auto place = launched_.release(id);
    return place == nullptr ? then() : give_back(place, then);
  }
  Step& step = *steps_.at(id);
  step.is_driver = true;
  if (std::exchange(step.was_held, false)) --counts_.held;
  if (step.state == Step::State::moving || step.state == Step::State::withdrawn) return then();
  give_back(step.place, then);
  const auto still = steps_.find(id);
  if (still != steps_.end()) withdraw(*still->second, "it is a driver");
}

// Who lives there lives with the drivers again.
void Steps::give_back(const std::shared_ptr<supervisor::Place>& place, std::function<void()> then) {
  ++on_the_way_;
  place->move_all(drivers_, [this, then = std::move(then)] {
    --on_the_way_;
    then();
  });
}

// It has turned out to be a driver on its way.
void Steps::turn_back(Step& step) {
  give_back(step.place, [this, id = step.id] {
    steps_.at(id)->place->remove();
    drop(id);
  });
}

void Steps::release_held() {
  launched_.resume_all();
  std::vector<JobId> all;
  for (const auto& [id, step] : steps_) all.push_back(id);
  for (const JobId id : all) {
    const auto found = steps_.find(id);
    if (found == steps_.end()) continue;
    if (found->second->state == Step::State::waiting) {
      withdraw(*found->second, "it was asked to end");
    } else if (found->second->state == Step::State::running) {
      [[maybe_unused]] const auto resumed = scheduler_.scheduler().resume(id);
    }
  }
}

bool Steps::is_running(const Step& step) const {
  return step.state == Step::State::running && !step.is_over && step.place->is_populated();
}

std::vector<RunningStep> Steps::running() const {
  std::vector<RunningStep> running = launched_.running();
  for (const auto& [id, step] : steps_) {
    if (!is_running(*step)) continue;
    running.push_back(
        {.pid = step->exec.process.pid, .command = policy::command_line(step->spec.command)});
  }
  return running;
}

void Steps::end_all(const std::string& why) {
  is_ending_ = true;
  launched_.end_all(why);
  std::vector<JobId> all;
  for (const auto& [id, step] : steps_) all.push_back(id);
  for (const JobId id : all) {
    const auto found = steps_.find(id);
    if (found == steps_.end()) continue;
    Step& step = *found->second;
    if (step.state == Step::State::waiting) {
      step.place->kill();
      withdraw(step, why);
    } else if (is_running(step)) {  // else its own end is on its way
      [[maybe_unused]] const auto killed = scheduler_.scheduler().kill(id, why);
    }
  }
  for (auto& [pid, spare] : spares_) spare.place->remove();
  spares_.clear();
}

}  // namespace plimsoll::govern
