// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/plugin_kit/checks/checks.h"
#include "ops/definition/infer_by_definition.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

ops::Sample with_field(const PluginCase& at, const tenon_field_rule& rule, const ir::Attribute& value) {
  ops::Sample out = at.sample;
  out.attributes.set(rule.name, value);
  return out;
}

/// Values that the rule allows: an object must be made of them, whether or not it suits these operands.
void legal(Trial& trial, const PluginCase& at, const tenon_field_rule& rule) {
  const FieldValues values = other_values(rule);
  if (!values.are_declared) return;
  for (const ir::Attribute& value : values.values) {
    ir::NodeView view = at.view();
    const ops::Sample sample = with_field(at, rule, value);
    view.attributes = &sample.attributes;
    const auto fields = ops::fields_of(view, trial.op());
    const auto object =
        fields ? create_at(trial.op(), at, TENON_BUILD, *fields) : Result<std::unique_ptr<plugin::Object>>(std::unexpected(fields.error()));
    if (!object)
      trial.report(at, fmt::format("{} = {} is refused, which it declares legal", rule.name, ir::text_of(value)), object.error());
  }
}

/// Values that the definition refuses.
void illegal(Trial& trial, const PluginCase& at, const tenon_field_rule& rule) {
  if (!trial.op().has_definition() || !trial.op().table.infer) return;
  for (const ir::Attribute& value : odd_values(rule)) {
    const auto made = make_case(trial.plugin, with_field(at, rule, value));
    if (!made) continue;
    ir::NodeView view = made->view();
    if (const auto defined = ops::infer_by_definition(view); !defined)
      trial.report(at, fmt::format("{} = {} is taken, and its definition refuses it", rule.name, ir::text_of(value)), defined.error());
  }
}

/// An engine of another build of the library may hold other fields than `create` expects: it must look before it reads.
void damaged(Trial& trial, const PluginCase& at) {
  if (!trial.op().table.save) return;
  const auto object = trial.object(at);
  if (!object) return;
  const auto saved = object->save(at.fields);
  if (!saved) return;
  for (size_t k = 0; k < saved->size(); ++k) {
    auto fewer = *saved;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(k));
    (void)create_at(trial.op(), at, TENON_RUN, fewer);
    auto other = *saved;
    other[k] = {other[k].name, TENON_FIELD_BYTES, 0, {}};
    (void)create_at(trial.op(), at, TENON_RUN, other);
  }
  (void)create_at(trial.op(), at, TENON_RUN, {});
  plugin::take_failure();
}

}  // namespace

void check_fields(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    if (at.is_varied || trial.plugin.is_kernel()) continue;
    for (const tenon_field_rule& rule : trial.op().fields) {
      if (trial.op().table.create) legal(trial, at, rule);
      illegal(trial, at, rule);
    }
    damaged(trial, at);
  }
}

}  // namespace tenon::cli
