#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "cli/top/rows.h"
#include "supervisor/control/control_protocol.h"

// What `plimsoll top` shows, and what keys do to it. Pure: answers of the runs and keys come in,
// what is to be done goes out.
namespace plimsoll::cli::top {

enum class KeyName : std::uint8_t {
  text,  // a character
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
};
struct Key {
  KeyName name{};
  std::string text{};  // UTF-8
};

enum class Page : std::uint8_t { jobs, job, help, runs };
enum class Prompt : std::uint8_t { none, filter, kill };

// What a key asks for.
struct Quit {};
struct Act {
  std::size_t run = 0;
  supervisor::ControlRequest request;
  std::string done;  // what is said once it is done
};
struct TellStory {
  std::size_t run = 0;
  std::string job;  // its name
};
using Effect = std::variant<Quit, Act, TellStory>;

// What is said in the bottom line until the next key.
struct Message {
  enum class Kind : std::uint8_t { news, fault };
  Kind kind{};
  std::string text;
};

struct JobPlace {
  std::size_t run = 0;
  JobId job{};
  bool operator==(const JobPlace&) const = default;
};

// Longer ones than a command is shown of find nothing.
inline constexpr std::size_t kFilterBytesMax = 200;

// Invariant: the selected row is one of rows() if there are any; it stays with its job while that
// is shown, wherever sorting puts it.
class Model {
 public:
  explicit Model(RowChoice choice) : choice_(std::move(choice)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Answers the run's number. Several at the start, and none was named: the user may choose.
  std::size_t add_run(std::string run);
  void offer_choice();
  void heard(std::size_t run, supervisor::RunStatus status, Instant now);
  void ended(std::size_t run, std::string how);
  void say(Message message);
  // Of the job whose page is shown: what the record of its run tells.
  void tell_story(std::string story);
  std::optional<Effect> press(const Key& key);
  // So many rows of jobs, or lines of a page, there was room for; what was there to be scrolled.
  void set_room(std::size_t rows, std::size_t lines);

  [[nodiscard]] const std::vector<RunView>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const RowChoice& choice() const { return choice_; }
  [[nodiscard]] std::size_t selected() const { return selected_; }
  [[nodiscard]] std::size_t first() const { return first_; }    // row, or line of a page, on top
  [[nodiscard]] std::size_t chosen() const { return chosen_; }  // line of the page of runs
  [[nodiscard]] Page page() const { return page_; }
  [[nodiscard]] Prompt prompt() const { return prompt_; }
  [[nodiscard]] const std::optional<Message>& message() const { return message_; }
  [[nodiscard]] const std::string& story() const { return story_; }
  // The job of the page, or whose end is asked about; null if it is over.
  [[nodiscard]] const Row* asked() const;
  [[nodiscard]] const std::string& asked_name() const { return asked_name_; }
  [[nodiscard]] std::size_t asked_run() const { return asked_ ? asked_->run : 0; }
  // Whether every run has ended.
  [[nodiscard]] bool is_over() const;

 private:
  void refresh();
  void open(Page page);
  void ask_about_selected();
  void move(std::ptrdiff_t by);
  void scroll(std::ptrdiff_t by);
  bool navigate(const Key& key);
  std::optional<Effect> press_in_jobs(const Key& key);
  std::optional<Effect> press_in_page(const Key& key);
  std::optional<Effect> press_in_runs(const Key& key);
  void press_in_filter(const Key& key);
  std::optional<Effect> press_in_question(const Key& key);
  template <class Request>
  std::optional<Effect> act(const Row& row, const std::string& done);

  RowChoice choice_;
  std::vector<RunView> runs_;
  std::vector<Row> rows_;
  std::size_t selected_ = 0, first_ = 0, chosen_ = 0;
  std::size_t room_ = 1, lines_ = 0;
  std::optional<JobPlace> selected_job_;
  std::optional<JobPlace> asked_;
  std::string asked_name_;
  std::string filter_before_;
  Page page_ = Page::jobs;
  Prompt prompt_ = Prompt::none;
  std::optional<Message> message_;
  std::string story_;
};

}  // namespace plimsoll::cli::top
