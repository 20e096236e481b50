# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

from numpy.typing import NDArray
from typing_extensions import Unpack

from ._engine import Context as Context
from ._engine import Engine as Engine
from ._engine import Entry as Entry
from ._engine import Port as Port
from ._engine import State as State
from ._engine import StopToken as StopToken
from ._engine import ThreadPool as ThreadPool
from ._engine import _load_bytes as _load_bytes
from ._engine import load as load
from ._options import CompileOptions, PartitionOptions

_torch_options: list[str]
"""Options of compile() that tenon.torch.compile has too."""

def _build_config_fields() -> list[tuple[str, str, str, str, str, str]]:
    """Of BuildConfig and PluginConfig: object, name, type, standard value as JSON, use, meaning."""

def _read_build_config(text: str, place: str) -> str:
    """JSON of all fields of a BuildConfig, as JSON too. Raises TenonError."""

class _LanguageModel:
    def __init__(
        self,
        path: str,
        context: int,
        lora: list[str],
        weights: str,
        kv: str,
        activations: str,
        window: int,
        sinks: int,
        build_config_file: str,
        build_config_text: str,
        states: list[str],
    ) -> None: ...
    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]: ...
    def detokenize(self, tokens: list[int]) -> str: ...
    def chat_text(self, turns: list[tuple[str, str]]) -> str: ...
    @property
    def context(self) -> int: ...
    @property
    def vocabulary(self) -> int: ...

class _LanguageSession:
    def __init__(self, model: _LanguageModel) -> None: ...
    def begin_generate(self, prompt: str, **options: Any) -> None: ...
    def begin_chat(self, prompt: list[tuple[str, str]], **options: Any) -> None: ...
    def next(self) -> str | None: ...
    def answer(self) -> dict[str, object]: ...

class SupportsSerialization(Protocol):
    """onnx.ModelProto, for one."""

    def SerializeToString(self) -> bytes: ...

class HasGraph(Protocol):
    """tenon.graph_rewriting.Network, for one."""

    graph: Graph

def compile(
    model: str | PathLike[str] | bytes | bytearray | memoryview | SupportsSerialization | Graph | HasGraph,
    **options: Unpack[CompileOptions],
) -> Engine:
    """Compiles a model for this CPU, without the GIL.

    model: the path of an ONNX file, the bytes of one, an onnx.ModelProto, or a Graph of tenon.rewriting or a Network of
    tenon.graph_rewriting, which stay as they are and have their weights, shapes and outputs already. The engine is the same to the
    byte, whichever of them.
    Raises TenonError.
    """

def partition(
    model: str | PathLike[str] | bytes | bytearray | memoryview | SupportsSerialization | Graph | HasGraph,
    *,
    dry_run: bool = False,
    **options: Unpack[PartitionOptions],
) -> dict[str, Any]:
    """Who runs what of a model, and why: what `tenon partition --json` prints. Options are those of compile().

    dry_run: no segment is compiled, so that nothing is known of "handed_back" and "peak_bytes". Raises TenonError.
    """

class SymbolicSize:
    """A size that is not known before the model runs, as the `shape` of a plugin is given it. Arithmetic with it gives an int where that is
    known. Comparisons raise ValueError where they depend on data."""

    def __add__(self, other: int | SymbolicSize) -> int | SymbolicSize: ...
    def __radd__(self, other: int) -> int | SymbolicSize: ...
    def __sub__(self, other: int | SymbolicSize) -> int | SymbolicSize: ...
    def __rsub__(self, other: int) -> int | SymbolicSize: ...
    def __mul__(self, other: int | SymbolicSize) -> int | SymbolicSize: ...
    def __rmul__(self, other: int) -> int | SymbolicSize: ...
    def __floordiv__(self, other: int | SymbolicSize) -> int | SymbolicSize: ...
    def __rfloordiv__(self, other: int) -> int | SymbolicSize: ...
    def __lt__(self, other: int | SymbolicSize) -> bool: ...
    def __le__(self, other: int | SymbolicSize) -> bool: ...
    def __gt__(self, other: int | SymbolicSize) -> bool: ...
    def __ge__(self, other: int | SymbolicSize) -> bool: ...
    def __bool__(self) -> bool: ...
    def ceil_div(self, divisor: int | SymbolicSize) -> int | SymbolicSize: ...
    def min(self, other: int | SymbolicSize) -> int | SymbolicSize: ...
    def max(self, other: int | SymbolicSize) -> int | SymbolicSize: ...

class SizedByData:
    """A size that is known only when a plugin has run: see tenon.sized_by_data."""

    def __init__(self, most: int | SymbolicSize) -> None: ...

def _add_plugin(plugin: dict[str, Any]) -> None: ...
def _plugin_case(
    name_space: str, name: str, sample: str, symbolic: bool, plugins: Sequence[str | PathLike[str]]
) -> tuple[Graph, list[Any]]: ...
def _plugin_ops() -> list[dict[str, Any]]: ...
def _op_creators() -> list[dict[str, Any]]: ...
def _created_node(
    name_space: str, name: str, version: str, fields: Sequence[tuple[str, int, int, bytes]]
) -> tuple[dict[str, Any], int, str | None, list[bool | None]]: ...
def _plugin_of(node: Node) -> dict[str, Any] | None: ...
def _open_plugins(file: str | PathLike[str]) -> None: ...
def _plugin_samples(name_space: str, name: str, plugins: Sequence[str | PathLike[str]]) -> tuple[list[str], bool]: ...

class CutNode:
    """A node of anybody's graph, for cut()."""

    def __init__(
        self,
        name: str,
        needs: Sequence[int],
        *,
        ours: bool,
        counts: bool = True,
        pinned: bool = False,
        our_ns: float = 0.0,
        their_ns: float = 0.0,
    ) -> None:
        """needs: places of nodes before this one. ours: Tenon runs it, unless its segment is given up. counts: it does work. The times are
        those of one run."""

class CutValue:
    """What goes from node to node, for cut(). maker: None for an input."""

    def __init__(self, maker: int | None, readers: Sequence[int], returned: bool = False, bytes: float = 0.0) -> None: ...

class CutResult:
    @property
    def place(self) -> list[int]:
        """Of each node: its segment."""
    @property
    def ours(self) -> list[bool]:
        """Of each segment, in the order of running."""
    @property
    def lower_bound(self) -> int:
        """On segments, where those that were given up are PyTorch's."""
    @property
    def too_small(self) -> list[int]: ...
    @property
    def does_not_pay(self) -> list[int]: ...

def cut(
    nodes: Sequence[CutNode],
    values: Sequence[CutValue] = ...,
    *,
    min_block_size: int | None = None,
    launch_ns: float = 0.0,
    border_ns: float = 0.0,
    border_ns_per_byte: float = 0.0,
) -> CutResult:
    """The fewest segments. Those of ours with fewer than min_block_size nodes that count are given up; None: those that take longer than
    others would, launch and borders counted. Raises TenonError."""

newest_opset: int

Array = NDArray[Any] | int | float | bool | Sequence[Any]
AttributeValue = int | float | str | bytes | Sequence[int] | Sequence[float] | Sequence[str] | NDArray[Any] | None
Size = int | str | None

class Graph:
    """A graph of the newest operators. One thread at a time; a handle on the body of a node that is gone raises TenonError."""

    name: str
    opsets: list[tuple[str, int]]
    """Of the model that it was read from, all its domains; export goes no lower."""
    def __init__(self, *, keep_unknown: bool = False, plugins: Sequence[str | PathLike[str]] = ...) -> None: ...
    @staticmethod
    def from_onnx(
        model: bytes | str | PathLike[str],
        *,
        external_data: str | PathLike[str] | None = None,
        keep_unknown: bool = False,
        weights_by_reference: bool = False,
        plugins: Sequence[str | PathLike[str]] = ...,
    ) -> Graph:
        """From a model's bytes, or from a file, whose weights stay where they are. Raises TenonError.

        keep_unknown: operators unknown to Tenon and the model, and nodes that break the rules of theirs (with a warning), become
        unknown nodes: kept as they are, written again, matched by
        rules, but never evaluated or compiled; insert then makes such nodes too. weights_by_reference: weights in files that are not
        there (or anywhere, for bytes without external_data) become constants whose type, shape and place in the file are all that is known.
        plugins: as for tenon.compile; with keep_unknown too.
        """
    @staticmethod
    def parse(text: str, *, keep_unknown: bool = False, plugins: Sequence[str | PathLike[str]] = ...) -> Graph:
        """From Tenon's text form, which str(graph) writes."""
    @property
    def keeps_unknown(self) -> bool:
        """It was made or read with keep_unknown."""
    def to_onnx(self, *, opset: int | None = None) -> bytes:
        """opset: exactly this one; None: the lowest that has every node, not below the source's."""
    def save_onnx(self, path: str | PathLike[str], *, opset: int | None = None, external_data: bool = False) -> int:
        """Writes the file (and its data, to a file next to it where requested or needed), whole or not at all. Returns the opset."""
    def clone(self) -> Graph: ...
    def dot(self, *, collapse: bool = True) -> str:
        """Graphviz text. collapse: repeated blocks once."""
    def evaluate(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
        """Runs by reference: slow, exact, without the GIL. Arrays are converted to the inputs' types; a sequence is a list of arrays, an
        optional an array or None. Raises TenonError.
        """
    def verify(self) -> None:
        """Raises TenonError where an invariant is broken."""
    @property
    def outer(self) -> Graph | None:
        """Of a body: the graph of its node."""
    @property
    def inputs(self) -> list[Value]: ...
    @property
    def outputs(self) -> list[Value]: ...
    @property
    def output_names(self) -> list[str]:
        """What users of the model call the outputs, whatever the values are called."""
    @property
    def nodes(self) -> list[Node]:
        """In topological order."""
    @property
    def values(self) -> list[Value]: ...
    def find(self, name: str) -> Value | None: ...
    def unique_name(self, stem: str) -> str: ...
    def __len__(self) -> int:
        """Nodes."""
    def insert(
        self,
        op_type: str,
        inputs: Iterable[Value | None],
        attributes: Mapping[str, AttributeValue] = ...,
        *,
        bodies: Mapping[str, Graph | tuple[Graph, Sequence[Value]]] = ...,
        outputs: int = -1,
        before: Node | None = None,
        after: Node | None = None,
        domain: str = "",
        name: str = "",
        names: Sequence[str | None] = ...,
        infer: bool = True,
    ) -> Node:
        """A new node, at the end unless a place is given. bodies: copies of these graphs; the values given with one are those of its last
        inputs. outputs: -1 for as many as attributes, constant operands and bodies say, else as the op must have, or as there are names.
        names: of the results; None leaves one out. infer: types and shapes of the results; where they make no sense TenonError is raised
        and nothing has changed. In a graph that keeps_unknown an unknown name makes an
        unknown node; Value.set_type declares the types of its results.
        """
    def add_input(self, name: str, dtype: Any = None, shape: Sequence[Size] | None = None) -> Value:
        """dtype: "f32", a NumPy dtype, ONNX's number, None for unknown. shape: sizes, texts of symbolic sizes, None for unknown ones."""
    def add_constant(self, array: Array, name: str = "", *, dtype: Any = None) -> Value:
        """A copy of the array."""
    def add_output(self, value: Value, name: str = "") -> None: ...
    def set_output(self, slot: int, value: Value) -> None: ...
    def set_output_name(self, slot: int, name: str) -> None: ...
    def erase_output(self, slot: int) -> None: ...
    def replace_all_uses(self, old: Value, new: Value, *, except_by: Node | None = None) -> bool:
        """Moves users after `new` where it is defined later; False, and no change, where that would make a cycle."""
    def erase(self, node: Node | Value) -> None:
        """A node whose results nobody uses, or an unused input or constant."""
    def remove_dead(self) -> int:
        """Erases what nobody uses; how many nodes that were."""
    def infer(self) -> None: ...

class Node:
    """A node of a graph; equal where it is the same one. Raises TenonError once the node is gone."""

    name: str
    @property
    def graph(self) -> Graph: ...
    @property
    def alive(self) -> bool: ...
    @property
    def op_type(self) -> str: ...
    @property
    def domain(self) -> str: ...
    @property
    def inputs(self) -> list[Value | None]: ...
    @property
    def captures(self) -> list[Value]:
        """Outer values that its bodies read."""
    @property
    def outputs(self) -> list[Value | None]: ...
    @property
    def attributes(self) -> dict[str, Any]: ...
    @property
    def bodies(self) -> list[tuple[str, Graph, int]]:
        """Attribute, graph, and how many of the graph's last inputs are captures."""
    @property
    def provenance(self) -> tuple[str, list[str]] | None:
        """The rule that made it, and the names of the nodes of the model it comes from; None where it was read."""
    @property
    def metadata(self) -> dict[str, str]:
        """What the model's author said of it (metadata_props)."""
    @property
    def is_unknown(self) -> bool:
        """The operator is unknown to Tenon: the results have declared types."""
    @property
    def commutative(self) -> bool: ...
    @property
    def next(self) -> Node | None: ...
    @property
    def previous(self) -> Node | None: ...
    def is_before(self, other: Node) -> bool: ...
    def set_operand(self, slot: int, value: Value | None) -> None: ...
    def set_attribute(self, name: str, value: AttributeValue) -> None:
        """None takes it away."""
    def infer(self) -> None: ...

class Value:
    """A value of a graph; equal where it is the same one. Raises TenonError once the value is gone."""

    name: str
    @property
    def graph(self) -> Graph: ...
    @property
    def alive(self) -> bool: ...
    def ensure_name(self) -> str:
        """Its name; a new one where it has none."""
    @property
    def kind(self) -> str:
        """ "input", "constant" or "result"."""
    @property
    def dtype(self) -> str | None: ...
    @property
    def onnx_dtype(self) -> int: ...
    @property
    def is_tensor(self) -> bool: ...
    @property
    def shape(self) -> tuple[Size, ...] | None: ...
    @property
    def elements(self) -> tuple[Size, ...] | None:
        """What is known of the elements of a small integer value."""
    @property
    def is_constant(self) -> bool: ...
    @property
    def byte_size(self) -> int: ...
    @property
    def reference(self) -> tuple[str, int, int] | None:
        """Where the bytes of a constant lie that were not read: file, offset, length; None for all other values."""
    def array(self) -> NDArray[Any]:
        """Of a constant; read-only, shares the bytes. Raises TenonError where they were not read."""
    @property
    def is_computable(self) -> bool:
        """It follows from constants alone."""
    def compute(self) -> NDArray[Any] | None: ...
    @property
    def producer(self) -> Node | None: ...
    @property
    def index(self) -> int: ...
    @property
    def uses(self) -> list[tuple[Node | None, int]]:
        """(node, slot) a use; (None, k): output k of the graph."""
    @property
    def users(self) -> list[Node]:
        """Each once, in the graph's order."""
    @property
    def use_count(self) -> int: ...
    @property
    def is_output(self) -> bool: ...
    @property
    def is_captured(self) -> bool: ...
    def set_type(self, dtype: Any, shape: Sequence[Size] | None = None) -> None:
        """While rules run: of a new result of an unknown node alone."""

class Match:
    """One attempt of a rule at a node; lives while the rule's function runs."""

    state: Any
    """What match hands to rewrite."""
    @property
    def graph(self) -> Graph: ...
    @property
    def root(self) -> Node: ...
    @property
    def nodes(self) -> list[Node]: ...
    @property
    def args(self) -> Any: ...
    def take(self, node: Node, *, root: bool = False) -> None:
        """Adds the node to the match: its results may have no users outside of the match, unless the rule is `shared`. root: they may,
        because they are replaced too."""
    def refuse(self, reason: str) -> bool:
        """False, with a reason for the statistics."""

class Rewriter:
    """Builds the new side of a rewrite. While the rule's function runs its graph may be edited too; all is undone where it is refused."""

    @property
    def graph(self) -> Graph: ...
    @property
    def place(self) -> Node | None:
        """New nodes go before this one."""
    def op(
        self,
        op_type: str,
        inputs: Iterable[Value | None],
        attributes: Mapping[str, AttributeValue] = ...,
        *,
        bodies: Mapping[str, Graph | tuple[Graph, Sequence[Value]]] = ...,
        outputs: int = -1,
        domain: str = "",
        names: Sequence[str | None] = ...,
    ) -> list[Value | None]:
        """The results of a new node; bodies, outputs and names as those of Graph.insert."""
    def again(self, like: Node, inputs: Iterable[Value | None]) -> list[Value]:
        """Inserts a node of the op and the attributes of `like`, a node of this graph without bodies, with other operands."""
    def clone_node(self, like: Node, inputs: Iterable[Value | None]) -> list[Value]:
        """Inserts a copy of `like`, a node of any graph, with copies of its bodies. inputs: in place of [*like.inputs, *like.captures]."""
    def constant(self, array: Array, dtype: Any = None, name: str = "") -> Value: ...
    def replace(self, old: Value, new: Value) -> None:
        """Every use of `old` shall become one of `new`; carried out when the function has returned."""

class Rule:
    @staticmethod
    def equation(
        text: str,
        *,
        name: str = "",
        docs: str = "",
        numerics: str = "exact",
        benefit: int = 1,
        shared: bool = False,
        sets: str = "",
        plugins: Sequence[str | PathLike[str]] = ...,
    ) -> Rule:
        """Rule.equation("Not(Not(?x)) => ?x"). plugins: whose ops it may name too, as for tenon.compile. Raises TenonError with the
        column."""
    @staticmethod
    def graphs(
        match: Graph,
        apply: Graph | None,
        *,
        name: str = "pair",
        docs: str = "",
        numerics: str = "exact",
        benefit: int = 1,
        shared: bool = False,
        sets: str = "",
        attributes: bool = True,
        check: Callable[[Match, dict[str, Value]], bool | None] | None = None,
        make: Callable[[Match, Rewriter, dict[str, Value], list[Value]], bool | None] | None = None,
    ) -> Rule:
        """What `match` computes is what `apply` computes. check may still refuse; make builds the new side instead of `apply`."""
    @staticmethod
    def code(
        name: str,
        functions: Mapping[str, Callable[..., Any] | None],
        *,
        roots: Sequence[str] = ...,
        docs: str = "",
        numerics: str = "exact",
        benefit: int = 1,
        shared: bool = False,
        reshapes: bool = False,
        sets: str = "",
    ) -> Rule:
        """functions: "match"(match) -> bool and "rewrite"(match, rewriter), or "match_and_rewrite"(match, rewriter) -> bool; or
        "match"(match) -> bool and "analyse"(match), for `analyse`.

        roots: ops to start from; none: all. shared: values inside the match may have users outside. reshapes: its edits in place may
        point users at values of another shape. The rule lives as long as what its functions hold on to.
        """
    @property
    def name(self) -> str: ...
    @property
    def docs(self) -> str: ...
    @property
    def sets(self) -> str: ...
    @property
    def seeds(self) -> str:
        """The patterns of yobx's catalogue that the rule covers, separated by blanks."""
    @property
    def numerics(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def benefit(self) -> int: ...
    @property
    def shared(self) -> bool:
        """Whether values inside the match may have users outside of it."""
    @property
    def roots(self) -> list[str]: ...

def select(expression: str) -> list[Rule]:
    """Rules of the library: names of sets, files, rules or patterns of yobx, joined with `+` or `,`, taken away with `-`."""

def rules_from(source: str | PathLike[str], *, name: str = "rules", plugins: Sequence[str | PathLike[str]] = ...) -> list[Rule]:
    """Rules in the language of `.rules` files. source: a path, or a text in one line that ends in ".rules", is read as a file; any other
    text is what a file would hold, and messages call the file `name`. plugins: whose ops they may name too, as for tenon.compile.

    Raises TenonError at FILE:LINE:COLUMN, with the line and a caret.
    """

class RuleSet:
    """Rules made ready once, for any number of graphs; may be used by several threads at once."""

    def __init__(self, rules: Iterable[Rule]) -> None: ...
    def only(self, rules: Iterable[Rule]) -> RuleSet:
        """Those of its rules that are among `rules`; cheap."""
    @property
    def rules(self) -> list[Rule]:
        """As they were given."""
    @property
    def inactive(self) -> list[str]:
        """ "rule: what is missing" for rules of which no match can start, but at an unknown node."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Rule]: ...

class Verifier:
    """Runs rewrites and what they replace on random inputs by reference. Keeps what it has seen over several calls of `rewrite`, one
    at a time.
    """

    def __init__(self, mode: str = "first") -> None:
        """mode: "first" (the first rewrite of each kind: rule, ops, types), "all" or "off"."""
    @property
    def mode(self) -> str: ...
    @property
    def result(self) -> dict[str, Any]:
        """Of all its runs: "asked" rewrites, of which "verified", "known" (verified before), "wrong"; "instances" compared and "skipped";
        "unverified" (rule to reason to count); "ms"; "text" says it all in words.
        """

class Why:
    """Why a rule does or does not rewrite at a node; str(why) says it in words."""

    @property
    def rule(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def outcome(self) -> str:
        """ "applies", "refused" (it matches, and a guard or the rule says no), "no_match", or "elsewhere" (it starts at other ops)."""
    @property
    def depth(self) -> int:
        """Parts of the pattern that matched; of rules in code nodes."""
    @property
    def parts(self) -> int:
        """Parts in all; 0 where that is not known, which is so of rules in code."""
    @property
    def at(self) -> str:
        """Where the failing part was tested."""
    @property
    def expected(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def matched(self) -> list[str]: ...
    @property
    def would_do(self) -> list[str]:
        """It applies if all of these were so; empty: no such list was found."""
    def as_dict(self) -> dict[str, Any]: ...

def why_not(
    graph: Graph,
    rule: Rule,
    node: Node | Value | str | None = None,
    *,
    most: int = 3,
    allowed: str = "reassociating",
    keep: Collection[str] = ...,
    args: Any = None,
) -> list[Why]:
    """Why the rule does not rewrite at a node (one answer), or its `most` best partial matches in the graph and its bodies, best first.

    node: also a value that it makes, or the name of either. The graph stays as it is. Rules that call Python report whether they
    match, and not whether what they would build is accepted. Raises TenonError, and what a rule's function raises.
    """

def visits(match: Graph) -> list[Node]:
    """Nodes of a pattern; the k-th matches Match.nodes[k]."""

def rewrite(
    graph: Graph,
    rules: RuleSet | Iterable[Rule],
    *,
    order: str = "worklist",
    allowed: str = "reassociating",
    stop_after: int | None = None,
    iterations: int | None = None,
    repeats: int = 1000,
    growth: int = 4,
    timing: bool = False,
    bodies: bool = True,
    keep: Collection[str] = ...,
    without: Collection[str] = ...,
    args: Any = None,
    fold: bool | Collection[str] = False,
    applied: Callable[[dict[str, Any]], None] | None = None,
    check: Callable[[dict[str, Any]], bool | str | None] | None = None,
    verify: str | Verifier = "off",
    isolate: bool = False,
) -> dict[str, Any]:
    """Applies the rules until nothing matches any more. Returns statistics.

    order: "worklist"; "sweep" (matches of the whole graph first, then all rewrites); or "in_turn" (each node that existed when the
    sweep began is shown to every rule). keep: names of nodes and values that stay. without: names of rules that do not run.
    fold: constants, or only nodes of these ops. applied is called after each rewrite; check may refuse one by saying why.
    verify: "first" or "all" run rewrites and what they replace; "verification" then has Verifier.result.
    isolate: tries the rules in a forked process first, and leaves out those that crash, hang or eat memory. Other Python threads wait
    meanwhile, and none may be at work in Tenon. Not for rules that call Python, nor with `check` (not_supported).
    A rule that raises, or breaks a promise, is undone, named in "reports" and left out; "errors" has (rule, exception).
    Raises TenonError, and KeyboardInterrupt where that has happened.
    """

def analyse(graph: Graph, rules: RuleSet | Iterable[Rule], *, args: Any = None) -> int:
    """Shows every node, those of bodies too, once to every rule that has "analyse". Returns how many matches were analysed.

    Callbacks may look and not touch. What one raises is raised here.
    """
