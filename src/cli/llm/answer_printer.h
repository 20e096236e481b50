// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "llm/session/session.h"

namespace tenon::cli {

class Console;

/// Prints answers while they are generated; after each, on stderr, its speed and the fraction of the machine's read bandwidth that it uses.
class AnswerPrinter {
 public:
  AnswerPrinter(std::shared_ptr<const llm::Model> model, llm::Session session, llm::GenerationOptions options, Console& console,
                bool verbose)
      : model_(std::move(model)), session_(std::move(session)), options_(std::move(options)), console_(console), verbose_(verbose) {}

  /// Generates and prints an answer; returns its text. Errors: those of Session::generate.
  Result<std::string> answer(std::span<const llm::TokenId> prompt);
  /// The last answer as JSON, for --json.
  nlohmann::ordered_json data(const std::string& text) const;
  llm::StopReason reason() const { return session_.reason(); }
  const llm::Model& model() const { return *model_; }
  llm::GenerationOptions& options() { return options_; }

 private:
  void show_speed();
  void show_details();

  std::shared_ptr<const llm::Model> model_;
  llm::Session session_;
  llm::GenerationOptions options_;
  Console& console_;
  bool verbose_;
  std::optional<double> bandwidth_;  ///< read bandwidth of the machine in GB/s; nullopt: not measured yet
};

}  // namespace tenon::cli
