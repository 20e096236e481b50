# SPDX-License-Identifier: Apache-2.0
"""|-x| is |x| for every x, NaN and infinity included."""

from tenon.rewriting import Match, Rewriter, Rule


def match(m: Match) -> bool:
    """Decides, and changes nothing. Nodes that are added to the match must have no users outside of it."""
    inner = m.root.inputs[0].producer
    if inner is None or inner.op_type != "Neg":
        return m.refuse("no Neg inside")
    if inner.inputs[0].dtype not in ("f16", "bf16", "f32", "f64"):
        return m.refuse("the smallest integer has no representable negative")
    m.take(inner)
    m.state = inner.inputs[0]
    return True


def rewrite(m: Match, w: Rewriter) -> None:
    w.replace(m.root.outputs[0], w.op("Abs", [m.state])[0])


RULE = Rule.code("NAME", {"match": match, "rewrite": rewrite}, roots=["Abs"], docs="|-x| is |x|")
