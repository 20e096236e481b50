// SPDX-License-Identifier: Apache-2.0
// Bindings for tenon.LLM, over the public interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/llm.h>

#include "engine_values.h"
#include "language_files.h"

namespace tenon_python {

namespace {

using Turns = std::vector<std::pair<std::string, std::string>>;

template <class T>
T unwrap(tenon::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The result of `call`, which runs without the GIL.
template <class Call>
auto released(const Call& call) {
  return unwrap([&] {
    const nb::gil_scoped_release released;
    return call();
  }());
}

std::vector<tenon::Message> messages_of(const Turns& turns) {
  std::vector<tenon::Message> out;
  for (const auto& [role, content] : turns) out.push_back({role, content});
  return out;
}

tenon::LanguageModel load(const std::string& path, const LanguageFileOptions& options) {
  const std::filesystem::path engine = engine_file(path, options);
  return released([&] { return tenon::LanguageModel::load(engine); });
}

std::string_view name_of(tenon::StopReason reason) {
  constexpr std::string_view kNames[] = {"none", "end_token", "stop_string", "max_tokens", "context_full", "cancelled"};
  return kNames[static_cast<size_t>(reason)];
}

nb::dict answer_of(const tenon::LanguageSession& session) {
  const tenon::Answer answer = session.answer();
  nb::dict out;
  out["text"] = answer.text;
  out["tokens"] = answer.tokens;
  out["ended_by"] = std::string(name_of(answer.ended_by));
  out["prompt_tokens"] = answer.prompt_tokens;
  out["reused_tokens"] = answer.reused_tokens;
  out["prompt_seconds"] = answer.prompt_seconds;
  out["answer_seconds"] = answer.answer_seconds;
  return out;
}

/// Binds `begin(session, prompt, options)` with the keywords of AnswerOptions.
template <class Prompt, class Begin>
void def_begin(nb::class_<tenon::LanguageSession>& session, const char* name, Begin begin) {
  const tenon::SamplingOptions standard;
  session.def(
      name,
      [begin](tenon::LanguageSession& s, const Prompt& prompt, double temperature, int64_t top_k, double top_p, double min_p,
              double repetition_penalty, double presence_penalty, double frequency_penalty, std::optional<uint64_t> seed,
              int64_t max_tokens, std::vector<std::string> stop, int threads) {
        tenon::GenerationOptions options{
            .sampling = {temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, seed},
            .max_tokens = max_tokens,
            .stop = std::move(stop)};
        options.run.threads = threads;
        released([&] { return begin(s, prompt, options); });
      },
      nb::arg("prompt"), nb::kw_only(), nb::arg("temperature") = standard.temperature, nb::arg("top_k") = standard.top_k,
      nb::arg("top_p") = standard.top_p, nb::arg("min_p") = standard.min_p, nb::arg("repetition_penalty") = standard.repetition_penalty,
      nb::arg("presence_penalty") = standard.presence_penalty, nb::arg("frequency_penalty") = standard.frequency_penalty,
      nb::arg("seed") = nb::none(), nb::arg("max_tokens") = 0, nb::arg("stop") = std::vector<std::string>(), nb::arg("threads") = 0);
}

}  // namespace

void bind_language(nb::module_& m) {
  nb::class_<tenon::LanguageModel> model(m, "_LanguageModel");
  model.def("__init__", [](tenon::LanguageModel* self, const std::string& path, int64_t context, std::vector<std::string> lora,
                           std::string weights, std::string kv, std::string activations, int64_t window, int64_t sinks,
                           std::string build_config_file, std::string build_config_text, std::vector<std::string> states) {
    new (self) tenon::LanguageModel(load(path, {context, std::move(lora), std::move(weights), std::move(kv), std::move(activations), window,
                                                sinks, std::move(build_config_file), std::move(build_config_text), std::move(states)}));
  });
  model.def("tokenize", [](const tenon::LanguageModel& self, const std::string& text, bool add_special, bool parse_special) {
    return released([&] { return self.tokenize(text, add_special, parse_special); });
  });
  model.def("detokenize", [](const tenon::LanguageModel& self, const std::vector<int32_t>& tokens) { return self.detokenize(tokens); });
  model.def("chat_text", [](const tenon::LanguageModel& self, const Turns& turns) { return unwrap(self.chat_text(messages_of(turns))); });
  model.def_prop_ro("context", &tenon::LanguageModel::context);
  model.def_prop_ro("vocabulary", &tenon::LanguageModel::vocabulary);
  nb::class_<tenon::LanguageSession> session(m, "_LanguageSession");
  session.def("__init__", [](tenon::LanguageSession* self, const tenon::LanguageModel& of) {
    new (self) tenon::LanguageSession(unwrap(tenon::LanguageSession::create(of)));
  });
  def_begin<std::string>(session, "begin_generate", [](auto& s, const auto& prompt, const auto& o) { return s.begin_generate(prompt, o); });
  def_begin<Turns>(session, "begin_chat", [](auto& s, const auto& turns, const auto& o) { return s.begin_chat(messages_of(turns), o); });
  session.def("next", [](tenon::LanguageSession& s) { return released([&] { return s.next(); }); });
  session.def("answer", &answer_of);
}

}  // namespace tenon_python
