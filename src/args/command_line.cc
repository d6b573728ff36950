#include "args/command_line.h"

#include <algorithm>

#include "args/complaint.h"
#include "base/text.h"
#include "jobfile/closest.h"

namespace plimsoll::args {
namespace {

std::string in_quotes(std::string_view word) { return "\"" + std::string(word) + "\""; }

// What --help calls a value, for a sentence.
std::string in_words(const std::string& type) {
  if (type == "SIZE") return "a size, such as 512M";
  if (type == "DURATION") return "a duration, such as 10s";
  if (type == "N") return "a number";
  if (type == "FILE") return "a file";
  if (type == "DIR") return "a directory";
  if (type == "PATH") return "a path";
  if (type == "STYLE") return "a style, such as plain";
  return type == "NAME" ? "a name" : type;
}

// The listed long option most similar to `name`, both without their dashes.
std::optional<std::string> option_meant(const CLI::App& app, std::string_view name) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const auto meant = jobfile::closest(name, names);
  return meant ? std::optional("--" + std::string(*meant)) : std::nullopt;
}

// Reads the words one after the other.
class Reader {
 public:
  Reader(const CLI::App& app, const std::vector<std::string>& words, OptionHint hint,
         const std::string& called)
      : app_(&app),
        words_(words),
        hint_(hint),
        called_(called.empty() ? "plimsoll " + app.get_name() : called) {}

  CommandLine read() && {
    while (at_ < words_.size() && !line_.mistake && !over_) take(words_[at_++]);
    if (!line_.mistake && !over_ && !subcommands().empty()) unknown_subcommand("");
    if (!line_.mistake && asks_for_help_) check_end();
    return std::move(line_);
  }

 private:
  void take(const std::string& word) {
    const bool dash = word.size() > 1 && word.front() == '-';
    if (dash && word[1] == '-') return take_long(word.substr(0, word.find('=')), word);
    if (dash && (!is_digit(word[1]) || find(word.substr(0, 2)) != nullptr)) return take_short(word);
    line_.plain.push_back(at_ - 1);
    if (app_->get_prefix_command()) {
      over_ = true;
    } else if (!subcommands().empty()) {
      take_subcommand(word);
    } else if (++positionals_ > positionals_max()) {
      line_.mistake = "found " + in_quotes(word) + ", expected nothing more";
    }
  }

  void take_long(const std::string& name, const std::string& word) {
    const CLI::Option* option = find(name);
    if (option == nullptr) return unknown(name);
    if (option == app_->get_help_ptr()) ask_for_help();
    if (name.size() == word.size()) take_value(*option, name);
  }

  // "-qj4": flags, and at the end perhaps an option with its value.
  void take_short(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      const CLI::Option* option = find(name);
      if (option == nullptr) return unknown(name);
      if (option == app_->get_help_ptr()) ask_for_help();
      if (option->get_items_expected_max() == 0) continue;
      if (i + 1 == word.size()) take_value(*option, name);
      return;
    }
  }

  void ask_for_help() { over_ = asks_for_help_ = true; }

  void check_end() {
    if (at_ < words_.size() && is_subcommand(words_[at_])) ++at_;
    if (at_ == words_.size()) return;
    line_.mistake = unexpected_after(words_[at_ - 1], words_[at_]);
  }

  void take_value(const CLI::Option& option, const std::string& name) {
    if (option.get_items_expected_max() == 0) return;
    // Of an option with a hint users know another one, which takes no value.
    const auto told = hint_ == nullptr ? std::nullopt : hint_(name);
    const bool given = at_ < words_.size() && !(told && words_[at_].starts_with('-'));
    if (given) {
      ++at_;
      return;
    }
    line_.mistake = name + " needs " + in_words(option.get_type_name());
    if (told) *line_.mistake += ": without a value " + *told;
  }

  void take_subcommand(const std::string& word) {
    for (const CLI::App* known : subcommands()) {
      if (known->get_name() != word) continue;
      app_ = known;
      return;
    }
    unknown_subcommand(word);
  }

  [[nodiscard]] bool is_subcommand(const std::string& word) const {
    const auto known = subcommands();
    return std::ranges::find(known, word, [](const CLI::App* one) { return one->get_name(); }) !=
           known.end();
  }

  void unknown(const std::string& name) {
    line_.mistake = "there is no option " + in_quotes(name);
    if (const auto told = hint_ == nullptr ? std::nullopt : hint_(name)) {
      *line_.mistake += ": " + *told;
      return;
    }
    const CLI::App& root = app_->get_parent() == nullptr ? *app_ : *app_->get_parent();
    const auto meant = name.starts_with("--") ? option_meant(root, std::string_view(name).substr(2))
                                              : std::nullopt;
    *line_.mistake +=
        meant ? "; did you mean " + *meant + "?" : "; `" + called_ + " --help` lists them";
  }

  void unknown_subcommand(const std::string& word) {
    std::string list;
    std::vector<std::string> names;
    for (const CLI::App* known : subcommands()) {
      names.push_back(known->get_name());
      list += (list.empty() ? "" : ", ") + known->get_name();
    }
    line_.mistake = "found " + (word.empty() ? "nothing" : in_quotes(word)) + ", expected one of " +
                    list + did_you_mean(word, names);
  }

  [[nodiscard]] std::size_t positionals_max() const {
    std::size_t most = 0;
    for (const CLI::Option* option : app_->get_options()) {
      if (option->get_positional())
        most += static_cast<std::size_t>(option->get_items_expected_max());
    }
    return most;
  }

  [[nodiscard]] std::vector<const CLI::App*> subcommands() const {
    return app_->get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
  }

  // With fallthrough a subcommand knows the options of its parent.
  [[nodiscard]] const CLI::Option* find(const std::string& name) const {
    const CLI::Option* option = app_->get_option_no_throw(name);
    if (option != nullptr || app_->get_parent() == nullptr) return option;
    return app_->get_parent()->get_option_no_throw(name);
  }

  const CLI::App* app_;  // of the subcommand, once there is one
  const std::vector<std::string>& words_;
  OptionHint hint_;
  std::string called_;
  std::size_t at_ = 0;  // the next word
  std::size_t positionals_ = 0;
  bool over_ = false;
  bool asks_for_help_ = false;
  CommandLine line_;
};

}  // namespace

CommandLine read_command_line(const CLI::App& app, const std::vector<std::string>& words,
                              OptionHint hint, const std::string& called) {
  return Reader(app, words, hint, called).read();
}

std::string unexpected_after(const std::string& last, const std::string& word) {
  return "found " + in_quotes(word) + " after " + last + ", expected nothing more";
}

}  // namespace plimsoll::args
