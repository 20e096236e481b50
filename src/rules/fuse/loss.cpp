// SPDX-License-Identifier: Apache-2.0
// The mean cross entropy of labels, as torch exports it: -log softmax at the label of each row, over the rows whose label is not -100.
// Labels are class numbers or -100 (the written-out form also takes negative ones, counted from the last class). In f16 the two sums are
// rounded before they are divided.
#include "rewrite/rule.h"

namespace tenon::rules::fuse_loss {
using namespace rewrite;

RULES(fuse_loss) {
    .sets = "default",
    .rules =
        {
            {.name = "cross_entropy_cast",
             .docs = "mean cross entropy in f16 with sums in f32, written out",
             .equation = "Div(Cast(ReduceSum(Cast(Where(Not(Equal(?labels, -100)), Neg(Squeeze(GatherElements(LogSoftmax(?scores, axis=1),"
                         " Unsqueeze(Where(Not(Equal(?labels, -100)), ?labels, 0), [1]), axis=1), [1])), 0), to=1), keepdims=0), to=10),"
                         " Cast(ReduceSum(Cast(Not(Equal(?labels, -100)), to=1), keepdims=0), to=10))"
                         " => SoftmaxCrossEntropyLoss(?scores, ?labels, ignore_index=-100, reduction=\"mean\")"
                         " where dtype(?scores) == f16",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "SoftmaxCrossEntropyLossCast"},
            {.name = "cross_entropy_cast_clean",
             .docs = "the same as other rules leave it: negated condition, divided before the cast",
             .equation = "Cast(Div(ReduceSum(Cast(Where(Equal(?labels, -100), 0, Neg(Squeeze(GatherElements(LogSoftmax(?scores, axis=1),"
                         " Unsqueeze(Where(Equal(?labels, -100), 0, ?labels), [1]), axis=1), [1]))), to=1), keepdims=0),"
                         " ReduceSum(Cast(Not(Equal(?labels, -100)), to=1), keepdims=0)), to=10)"
                         " => SoftmaxCrossEntropyLoss(?scores, ?labels, ignore_index=-100, reduction=\"mean\")"
                         " where dtype(?scores) == f16",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "SoftmaxCrossEntropyLossCast"},
            {.name = "cross_entropy",
             .docs = "mean cross entropy in one dtype, written out",
             .equation = "Div(ReduceSum(Where(Not(Equal(?labels, -100)), Neg(Squeeze(GatherElements(LogSoftmax(?scores, axis=1),"
                         " Unsqueeze(Where(Not(Equal(?labels, -100)), ?labels, 0), [1]), axis=1), [1])), 0), keepdims=0),"
                         " (ReduceSum(Cast(Not(Equal(?labels, -100)), to=1), keepdims=0) |"
                         " Cast(ReduceSum(Cast(Not(Equal(?labels, -100)), to=7), keepdims=0), to=1)))"
                         " => SoftmaxCrossEntropyLoss(?scores, ?labels, ignore_index=-100, reduction=\"mean\")",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "cross_entropy_clean",
             .docs = "the same with a negated condition",
             .equation = "Div(ReduceSum(Where(Equal(?labels, -100), 0, Neg(Squeeze(GatherElements(LogSoftmax(?scores, axis=1),"
                         " Unsqueeze(Where(Equal(?labels, -100), 0, ?labels), [1]), axis=1), [1]))), keepdims=0),"
                         " (ReduceSum(Cast(Not(Equal(?labels, -100)), to=1), keepdims=0) |"
                         " Cast(ReduceSum(Cast(Not(Equal(?labels, -100)), to=7), keepdims=0), to=1)))"
                         " => SoftmaxCrossEntropyLoss(?scores, ?labels, ignore_index=-100, reduction=\"mean\")",
             .numerics = Numerics::reassociating,
             .benefit = 6},
        },
};

}  // namespace tenon::rules::fuse_loss
