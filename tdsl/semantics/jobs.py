"""``job NAME { … }``: a training job as a plain record, with where each of its figures is from.

The record holds what is written; what follows from it is computed in ``tdsl.jobs``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.amounts import settings_in_one_fault, unit_apart_fault
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, IndexEntry, ResolvedPath
from tdsl.semantics.quantity import COMPUTE, NONE, TIME, Dim, Quantity, kind_name
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import only_value_behind, refuse_block
from tdsl.semantics.values import a_type, integer_if_whole
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.library import Library, Linked

UNFIT = "E0130"
"""A job whose numbers do not fit each other, or the accelerators that it is on."""

DIMENSIONS = ("tensor", "context", "pipeline", "data")
"""The dimensions of a job's grid of ranks, innermost first where `order` says nothing."""
SHARDED = ("nothing", "optimizer", "gradients", "parameters")
RECOMPUTED = ("none", "full")
ATTENTION = ("none", "causal", "full")
FORMATS: Mapping[str, Fraction] = {
    "fp64": Fraction(8),
    "fp32": Fraction(4),
    "tf32": Fraction(4),
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "fp4": Fraction(1, 2),
}
"""Bytes of a number of each format."""
SCALES = {"k": 3, "K": 3, "M": 6, "B": 9, "G": 9, "T": 12}
"""Powers of ten behind a count: `405B` parameters, `15T` tokens."""
DESIGN, PUBLISHED, ASSUMED = "design", "published", "assumed"
"""Where a figure is from: the design, a source that the job it builds on names, or an assumption."""
MOST = 10**18
"""The greatest count of a job."""


@dataclass(frozen=True, slots=True)
class Job:
    """A training job as written. Counts are whole numbers, shares are fractions of 1, bytes are of a number.

    ``uncounted`` are the layers behind a `+`, of embedding and output. ``parameters`` and ``active`` are 0
    where they follow from the transformer. ``moved`` has the bytes of numbers that are not those of
    ``format``: `gradients`, `parameters`, `dispatch`, `combine`. ``overlap`` is the share of the
    communication of a dimension that may run beside compute. ``measured`` is what somebody measured of it,
    as (word, amount): seconds of a `step`, FLOP/s of an accelerator that the model needs (`flops`) or that it
    computes (`hardware`), `tokens` a second, or a share `mfu`. ``peak`` are FLOP/s of
    an accelerator, 0 where the chip's are taken. ``origins`` says where each setting is from."""

    name: str
    title: str
    span: SourceSpan
    layers: int = 0
    uncounted: int = 0
    hidden: int = 0
    ffn: int = 0
    gated: bool = False
    heads: int = 0
    kv_heads: int = 0
    head_size: int = 0
    vocab: int = 0
    parameters: int = 0
    active: int = 0
    experts: int = 0
    top: int = 0
    shared: int = 0
    host_limit: int = 0
    sequence: int = 0
    batch: int = 0
    tensor: int = 1
    context: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    order: tuple[str, ...] = DIMENSIONS
    interleave: int = 1
    microbatch: int = 1
    shard: str = "nothing"
    recompute: str = "none"
    attention: str = "none"
    format: str = "bf16"
    moved: Mapping[str, str] = field(default_factory=dict)
    efficiency: Fraction = Fraction(0)
    peak: Fraction = Fraction(0)
    overlap: Mapping[str, Fraction] = field(default_factory=dict)
    measured: tuple[tuple[str, Fraction], ...] = ()
    source: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.tensor * self.context * self.pipeline * self.data

    @property
    def attention_width(self) -> int:
        """Numbers that all heads of a layer have for a token."""
        return self.heads * self.size_of_head if self.heads else self.hidden

    @property
    def size_of_head(self) -> int:
        """Numbers that one head has for a token."""
        return self.head_size or (self.hidden // self.heads if self.heads else 0)

    @property
    def microbatches(self) -> int:
        """Microbatches that a pipeline works off in a step."""
        return self.batch // (self.data * self.microbatch)

    @property
    def tokens(self) -> int:
        """Tokens of a step."""
        return self.batch * self.sequence

    def size_of(self, what: str) -> Fraction:
        """Bytes of a number that is sent: ``gradients``, ``parameters``, ``dispatch``, ``combine``, else of
        the format of the job."""
        return FORMATS[self.moved.get(what, self.format)]


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job of a fabric with the paths of what it is on, in the order of its ranks: the hosts or chips, and
    of chips inside hosts their name and indices there. No path: all accelerators of the fabric."""

    job: Job
    on: tuple[PlannedRanks, ...]
    context: Context
    scope: Scope


@dataclass(frozen=True, slots=True)
class PlannedRanks:
    """One path after `on`: hosts, chips or a group, and of chips in hosts their name and index entries."""

    target: ResolvedPath
    chip: str
    entries: tuple[IndexEntry, ...]


def plan_job(
    plan: FabricPlan, library: Library, home: Linked, s: tree.JobDecl, scope: Scope, context: Context
) -> None:
    """A job in a fabric's own block. Raises Fault."""
    if len(context.groups) > 1:
        raise Fault(
            "E0118",
            s.name.span,
            "`job` belongs in the fabric's own block",
            help=f"move it out of the braces of `{context.group.name}`",
        )
    before = next((j for j in plan.jobs if j.job.name == s.name.name), None)
    if before is not None:
        raise Fault(
            "E0104",
            s.name.span,
            f"job `{s.name.name}` is already declared",
            labels=[(before.job.span, "first here")],
            help=f"give one of them another name, such as `{s.name.name}_2`",
        )
    taken = plan.root.members.get(s.name.name)
    if taken is not None:
        raise Fault(
            "E0104",
            s.name.span,
            f"`{s.name.name}` is already the name of a device or group",
            help=f"give the job another name, such as `{s.name.name}_run`",
        )
    plan.names_of_jobs.add(s.name.name)
    made = read_job(library, home, s, scope)
    paths = [p for x in s.body for p in _paths_after_on(x)]
    on = tuple(_ranks_of_path(plan, context, p) for p in paths)
    plan.jobs.append(PlannedJob(made, on, context, scope))


def read_job(library: Library, home: Linked, s: tree.JobDecl, scope: Scope, whole: bool = True) -> Job:
    """What a job and those that it builds on say; ``whole``: all that a job needs. Raises Fault for what
    cannot be."""
    chain = [*jobs_it_builds_on(library, home, s)]
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    spans: dict[str, SourceSpan] = {}
    for depth, (node, at) in enumerate(reversed(chain)):
        own = depth == len(chain) - 1
        reader = JobReader(library.evaluator, scope if own else at.scope)
        reader.read_block(node.body)
        cited = "source" in reader.values or (not own and "source" in values)
        origins |= reader.origins_of_values(PUBLISHED if cited else DESIGN)
        if depth and set(reader.values) - _SAME_RUN:  # what was measured of another run is not of this one
            values.pop("measured", None)
        values |= _values_over_those_below(values, reader.values)
        spans = {**reader.spans, **{k: v for k, v in spans.items() if k not in reader.spans}}
    title = _title_of_chain(library, chain, scope)
    made = Job(s.name.name, title, s.name.span, **values, origins=origins)  # type: ignore[arg-type]
    refuse_unfit_job(made, spans, whole)
    return made


def _values_over_those_below(below: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """The values of a job over those of what it builds on: of formats and overlaps, those that it does not
    say stay."""
    out = {**own}
    for merged in ("moved", "overlap"):
        if merged in own and merged in below:
            out[merged] = {**below[merged], **own[merged]}  # type: ignore[dict-item]
    return out


def _title_of_chain(library: Library, chain: Sequence[tuple[tree.JobDecl, Linked]], scope: Scope) -> str:
    """The title of a job, else that of the nearest it builds on; "" without one. ``scope`` is the job's."""
    for depth, (node, at) in enumerate(chain):
        if node.title is not None:
            return str(library.evaluator.evaluate(node.title, at.scope if depth else scope))
    return ""


_SAME_RUN = frozenset({"measured", "source", "overlap", "efficiency", "peak"})
"""Settings that leave a job the run that was measured."""


def refuse_unfit_presets(library: Library, home: Linked) -> None:
    """Report what is wrong with the jobs at the top of a file, which others may build on: they need not say
    all."""
    for entry in home.names.values():
        if isinstance(entry.node, tree.JobDecl):
            try:
                read_job(library, home, entry.node, home.scope, whole=False)
            except Fault as fault:
                fault.report(library.diagnostics)
            except Excused:
                pass


def jobs_it_builds_on(
    library: Library, home: Linked, s: tree.JobDecl
) -> Iterator[tuple[tree.JobDecl, Linked]]:
    """A job and those behind its colons, each with its file. Raises Fault for a name that is none."""
    seen: list[tree.JobDecl] = []
    while True:
        if any(s is x for x in seen):
            help = f"leave out the `:` of one of them, such as `job {s.name.name} {{`"
            raise Fault("E0114", s.name.span, f"job `{s.name.name}` builds on itself", help=help)
        seen.append(s)
        yield s, home
        if s.of is None:
            return
        name = s.of.bare if isinstance(s.of, tree.PathExpr) else None
        known = {**home.used, **home.names}
        entry = known.get(name or "")
        if entry is None or not isinstance(entry.node, tree.JobDecl):
            if name and home.scope.is_excused(name):
                raise Excused
            jobs = [n for n, e in known.items() if isinstance(e.node, tree.JobDecl)]
            extra = "`use jobs.llama3 (llama3_405b_16k_gpus)` takes one from the library"
            raise unknown_name_fault("E0101", s.of.span, "job", s.of.span.text, jobs, extra_help=extra)
        s, home = entry.node, entry.home


def _paths_after_on(s: tree.Stmt) -> list[tree.PathExpr]:
    """The paths of an `on` statement."""
    if not isinstance(s, tree.Setting) or s.name.name != "on":
        return []
    out = []
    for item in s.items:
        if not isinstance(item.value, tree.PathExpr) or item.args:
            raise Fault(
                "E0120",
                item.span,
                "`on` names hosts, chips or groups",
                help="the form is `on node[0..3].gpu`",
            )
        out.append(item.value)
    if not out:
        raise Fault(
            "E0120", s.span, "`on` names hosts, chips or groups", help="the form is `on node[0..3].gpu`"
        )
    return out


def _ranks_of_path(plan: FabricPlan, context: Context, path: tree.PathExpr) -> PlannedRanks:
    """A path after `on`. Chips inside of hosts are named by their host: to name them here makes no devices of
    them."""
    before = set(plan.insides)
    target = resolve_path(plan, context, path, ports=False)
    for key in [k for k in plan.insides if k not in before]:
        del plan.insides[key]
    device = target.device
    if device is None or device.inside is None:
        return PlannedRanks(target, "", ())
    part = device.parts[-1]
    own = len(part.axes)
    outer = target.entries[: len(target.entries) - own]
    inside = target.entries[len(target.entries) - own :]
    host = ResolvedPath(path, None, device.inside, target.shared, outer, "", None)
    return PlannedRanks(host, part.name, inside)


# ---------------------------------------------------------------- settings

WHOLE = (
    "sequence",
    "batch",
    "tensor",
    "context",
    "pipeline",
    "data",
    "expert",
    "interleave",
    "microbatch",
)
TRANSFORMER = ("layers", "hidden", "ffn", "heads", "kv_heads", "head_size", "vocab")
WORDS: Mapping[str, tuple[str, ...]] = {
    "shard": SHARDED,
    "recompute": RECOMPUTED,
    "attention": ATTENTION,
}
OTHERS = (
    "transformer",
    "parameters",
    "active",
    "experts",
    "on",
    "order",
    "precision",
    "efficiency",
    "peak",
    "overlap",
    "measured",
    "source",
    "assumed",
)
SETTINGS = (*WHOLE, *WORDS, *OTHERS)
_ALL_SETTINGS = frozenset({*SETTINGS, "layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "head_dim"})
"""Settings of a job's block."""
PARALLEL = "write `tensor 8; pipeline 4; data 16`: a setting for each kind of parallelism"
SETTINGS_OF_FRAMEWORKS = {
    **dict.fromkeys(("tp", "tensor_parallel", "tensor_model_parallel_size", "model_parallel"), "tensor"),
    **dict.fromkeys(("pp", "pipeline_parallel", "pipeline_model_parallel_size", "stages"), "pipeline"),
    **dict.fromkeys(("dp", "data_parallel", "fsdp", "ddp", "replicas"), "data"),
    **dict.fromkeys(("cp", "context_parallel", "context_parallel_size"), "context"),
    **dict.fromkeys(("ep", "expert_parallel", "expert_model_parallel_size"), "expert"),
    **dict.fromkeys(("gbs", "global_batch", "global_batch_size", "batch_size"), "batch"),
    **dict.fromkeys(("mbs", "micro_batch", "micro_batch_size"), "microbatch"),
    **dict.fromkeys(
        ("seq", "seq_len", "seqlen", "seq_length", "sequence_length", "context_length"), "sequence"
    ),
    **dict.fromkeys(("dtype", "format", "data_type", "number_format"), "precision"),
    **dict.fromkeys(("zero", "sharding"), "shard"),
    **dict.fromkeys(("activation_checkpointing", "checkpointing", "recomputation", "remat"), "recompute"),
    **dict.fromkeys(("vpp", "virtual_stages", "virtual_pipeline", "chunks"), "interleave"),
    **dict.fromkeys(("params", "size"), "parameters"),
    **dict.fromkeys(("moe",), "experts"),
    **dict.fromkeys(("mfu", "hfu", "utilisation", "utilization"), "efficiency"),
    **dict.fromkeys(("model", "llm", "architecture"), "transformer"),
    **dict.fromkeys(("hosts", "nodes", "gpus", "ranks"), "on"),
}
"""Words of Megatron-LM, DeepSpeed and others for a setting, in small letters, and its name."""
TRANSFORMER_OF_FRAMEWORKS = {
    **dict.fromkeys(("hidden_size", "d_model", "dim", "width", "embedding"), "hidden"),
    **dict.fromkeys(("num_layers", "n_layers", "n_layer", "depth"), "layers"),
    **dict.fromkeys(("num_heads", "n_heads", "n_head", "attention_heads"), "heads"),
    **dict.fromkeys(("num_kv_heads", "n_kv_heads", "query_groups", "num_query_groups"), "kv_heads"),
    **dict.fromkeys(("ffn_hidden", "ffn_hidden_size", "intermediate_size", "mlp", "feedforward"), "ffn"),
    **dict.fromkeys(("vocab_size", "vocabulary", "padded_vocab_size"), "vocab"),
    **dict.fromkeys(("head_dim", "kv_channels", "d_head"), "head_size"),
}
"""The same for settings of a transformer."""
MEASURED: Mapping[str, tuple[Dim, str]] = {
    "step": (TIME, "measured step 6.2s"),
    "flops": (COMPUTE, "measured flops 400Tflops"),
    "hardware": (COMPUTE, "measured hardware 400Tflops"),
    "mfu": (NONE, "measured mfu 41%"),
}


class JobReader:
    """Reads the settings of one block into ``values``, with their places; ``assumed`` are those that it says
    are assumptions."""

    def __init__(self, evaluator: Evaluator, scope: Scope) -> None:
        self.evaluator, self.scope = evaluator, scope
        self.values: dict[str, object] = {}
        self.spans: dict[str, SourceSpan] = {}
        self.assumed: set[str] = set()

    def origins_of_values(self, source: str) -> dict[str, str]:
        """Where each value is from: ``source`` where it is no assumption."""
        return {k: (ASSUMED if k in self.assumed else source) for k in self.values}

    def read_block(self, body: tuple[tree.Stmt, ...]) -> None:
        """All settings of a block. Raises Fault."""
        for s in body:
            if isinstance(s, tree.Broken):
                raise Excused
            if not isinstance(s, tree.Setting):
                raise Fault(
                    "E0118", s.span, "the block of a job has settings alone", help="such as `batch 2048`"
                )
            self.read_setting(s)

    def read_setting(self, s: tree.Setting) -> None:
        """One setting."""
        name = s.name.name
        if name not in SETTINGS:
            raise unknown_name_fault(
                "E0101",
                s.name.span,
                "setting of a job",
                name,
                SETTINGS,
                meant=SETTINGS_OF_FRAMEWORKS,
                extra_help=PARALLEL if name.lower().startswith("parallel") else "",
            )
        special: Mapping[str, Callable[[tree.Setting], None]] = {
            "transformer": self.read_transformer,
            "experts": self.read_experts,
            "order": self.read_order,
            "precision": self.read_precision,
            "overlap": self.read_overlaps,
            "measured": self.read_measured,
            "assumed": self.read_assumed,
            "source": self.read_source,
            "on": lambda s: None,
        }
        if name in special:
            if name not in ("transformer", "precision"):
                refuse_block(s)
            if name in _LISTS and not s.items:
                help = f"write `{name} …`, or remove `{name}`"
                raise Fault("E0120", s.span, f"the value of `{name}` is missing", help=help)
            special[name](s)
        elif name in WHOLE:
            self.set_value(name, s, self.whole_number(s, f"{name} 8"))
        elif name in WORDS:
            self.set_value(name, s, self.word_of(s, WORDS[name]))
        elif name in ("parameters", "active"):
            self.set_value(
                name, s, count_of_expression(self.only_item(s, f"{name} 405B"), self.evaluator, self.scope)
            )
        elif name == "efficiency":
            value = self.only_item(s, "efficiency 52%")
            if not (share := self.share_of(value)):
                message = "an efficiency is above zero: at 0% no step ends"
                raise Fault("E0120", value.span, message, help="write `efficiency 52%`")
            self.set_value(name, s, share)
        else:
            self.set_value(
                name, s, self.amount(self.only_item(s, "peak 989Tflops"), COMPUTE, "peak 989Tflops")
            )

    def set_value(self, name: str, s: tree.Setting | tree.SettingItem, value: object) -> None:
        """Keep a value. Raises Fault where there is one."""
        if name in self.values:
            raise Fault(
                "E0104",
                s.span,
                f"`{name}` is set twice",
                labels=[(self.spans[name], "first here")],
                help=f"leave one `{name}`",
            )
        self.values[name], self.spans[name] = value, s.span

    def only_item(self, s: tree.Setting, form: str) -> tree.Expr:
        """The one value of a setting."""
        if len(s.items) != 1 or s.items[0].args or s.body is not None:
            own = f"{s.name.name} {s.items[0].value.span.text}" if s.items else form
            raise (
                unit_apart_fault(s)
                or settings_in_one_fault(s.name.name, s.items, _ALL_SETTINGS)
                or Fault("E0120", s.span, f"`{s.name.name}` takes one value", help=f"write `{own}`")
            )
        return s.items[0].value

    def whole_number(self, s: tree.Setting, form: str) -> int:
        """The one whole number of a setting, above zero."""
        return self.whole_expression(self.only_item(s, form), form)

    def whole_expression(self, e: tree.Expr, form: str) -> int:
        """A whole number above zero."""
        value = integer_if_whole(self.evaluator.evaluate(e, self.scope))
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST:
            raise Fault(
                "E0103",
                e.span,
                f"expected a whole number above zero, found {a_type(value)}",
                help=f"write `{form}`",
            )
        return value

    def word_of(self, s: tree.Setting, words: tuple[str, ...]) -> str:
        """The one word of a setting."""
        value = self.only_item(s, f"{s.name.name} {words[0]}")
        name = value.bare if isinstance(value, tree.PathExpr) else None
        if name not in words:
            raise unknown_name_fault("E0101", value.span, f"`{s.name.name}`", value.span.text, words)
        return str(name)

    def share_of(self, e: tree.Expr) -> Fraction:
        """A share of 1, above zero."""
        value = self.evaluator.evaluate(e, self.scope)
        amount = value.amount if isinstance(value, Quantity) and value.dim == NONE else value
        if isinstance(amount, bool) or not isinstance(amount, (int, Fraction)) or not 0 <= amount <= 1:
            number = re.fullmatch(r"\d{1,2}(\.\d+)?|100", e.span.text)
            new = f"{e.span.text}%" if number else "52%"
            raise Fault(
                "E0103",
                e.span,
                f"expected a share up to 100%, found {e.span.text}",
                help=f"write `{new}`",
                fix=Fix(f"write `{new}`", ((e.span, new),), safe=False) if number else None,
            )
        return Fraction(amount)

    def amount(self, e: tree.Expr, dim: Dim, form: str) -> Fraction:
        """An amount of a dimension, above zero."""
        value = self.evaluator.evaluate(e, self.scope)
        if not isinstance(value, Quantity) or value.dim != dim or value.amount <= 0:
            raise Fault(
                "E0103",
                e.span,
                f"expected a {kind_name(dim)} above zero, found {a_type(value)}",
                help=f"write `{form}`",
            )
        return value.amount

    # ------------------------------------------------------------ settings of several values
    def read_transformer(self, s: tree.Setting) -> None:
        """``transformer { layers 126 + 2; hidden 16384; … }``."""
        if s.body is None or s.items:
            raise Fault(
                "E0120",
                s.span,
                "`transformer` takes a block",
                help="`transformer { layers 96; hidden 12288 }`",
            )
        for x in s.body:
            if not isinstance(x, tree.Setting):
                raise Fault(
                    "E0118",
                    x.span,
                    "the block of a transformer has settings alone",
                    help="such as `layers 96`",
                )
            name = x.name.name
            refuse_block(x)
            if name not in TRANSFORMER:
                raise unknown_name_fault(
                    "E0101",
                    x.name.span,
                    "setting of a transformer",
                    name,
                    TRANSFORMER,
                    meant=TRANSFORMER_OF_FRAMEWORKS,
                )
            if name == "layers":
                self.read_layers(x)
            elif name == "ffn" and len(x.items) == 1 and _words_behind(x.items[0]) == ("gated",):
                self.set_value("ffn", x, self.whole_expression(x.items[0].value, "ffn 53248 gated"))
                self.set_value("gated", x, True)
            elif re.fullmatch(r"ffn \d+ (?:swiglu|geglu|glu|reglu)", x.span.text):
                new = f"{x.span.text.rpartition(' ')[0]} gated"
                fix = Fix(f"write `{new}`", ((x.span, new),), safe=False)
                message = "a layer that is gated, by any function, is `gated`"
                raise Fault("E0120", x.span, message, help=f"write `{new}`", fix=fix)
            else:
                self.set_value(name, x, self.whole_number(x, f"{name} 128"))

    def read_layers(self, s: tree.Setting) -> None:
        """``layers 126 + 2``: transformer layers, and what counts as further ones in a pipeline."""
        value = self.only_item(s, "layers 126 + 2")
        more = 0
        if isinstance(value, tree.Chain) and len(value.rest) == 1 and value.rest[0][0] == "+":
            more = self.whole_expression(value.rest[0][1], "layers 126 + 2")
            value = value.first
        self.set_value("layers", s, self.whole_expression(value, "layers 126"))
        self.set_value("uncounted", s, more)

    def read_experts(self, s: tree.Setting) -> None:
        """``experts 256, top 8, shared 1, limit 4 hosts``."""
        form = "experts 256, top 8, shared 1, limit 4 hosts"
        names = {"top": "top", "shared": "shared", "limit": "host_limit"}
        for at, item in enumerate(s.items):
            word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
            if not at and not item.args:
                self.set_value("experts", item, self.whole_expression(item.value, form))
            elif word in names and (number := _number_of_experts(item, word)) is not None:
                self.set_value(names[word], item, self.whole_expression(number, form))
            else:
                raise Fault(
                    "E0120", item.span, f"`experts` does not use `{item.span.text}`", help=f"write `{form}`"
                )
        if "experts" not in self.values or "top" not in self.values or s.body is not None:
            raise Fault(
                "E0120",
                s.span,
                "`experts` says how many there are and how many a token goes to",
                help=f"write `{form}`",
            )

    def read_order(self, s: tree.Setting) -> None:
        """``order tensor, data, pipeline``: dimensions, innermost first."""
        words = [i.value.bare if isinstance(i.value, tree.PathExpr) and not i.args else None for i in s.items]
        for word, item in zip(words, s.items, strict=True):
            if word not in DIMENSIONS or words.count(word) > 1:
                raise Fault(
                    "E0120",
                    item.span,
                    f"`order` names each of {', '.join(DIMENSIONS)} once, innermost first",
                    help=f"write `order {', '.join(DIMENSIONS)}`",
                )
        named = tuple(str(w) for w in words)
        self.set_value("order", s, (*named, *(d for d in DIMENSIONS if d not in named)))

    def read_precision(self, s: tree.Setting) -> None:
        """``precision bf16 { gradients fp32 }``."""
        value = s.items[0].value if s.items and not s.items[0].args else None
        if value is not None and len(s.items) > 1:
            raise _words_behind_precision_fault(s)
        self.set_value("format", s, self.number_format(value, s.span))
        moved = {}
        for x in s.body or ():
            if not isinstance(x, tree.Setting) or x.name.name not in (
                "gradients",
                "parameters",
                "dispatch",
                "combine",
            ):
                raise Fault(
                    "E0118",
                    x.span,
                    "the block of `precision` has `gradients`, `parameters`, `dispatch`, `combine`",
                    help="write `precision bf16 { gradients fp32 }`",
                )
            if x.name.name in moved:
                raise Fault("E0104", x.span, f"`{x.name.name}` is set twice", help="leave one of them")
            moved[x.name.name] = self.number_format(self.only_item(x, "gradients fp32"), x.span)
        if moved:
            self.set_value("moved", s, moved)

    def number_format(self, value: tree.Expr | None, span: SourceSpan) -> str:
        """The name of a number format."""
        name = value.bare if isinstance(value, tree.PathExpr) else None
        if name not in FORMATS:
            if value is None:
                help = "write `precision bf16`, or another format"
                raise Fault("E0120", span, "a number format is missing", help=help)
            text = value.span.text
            raise unknown_name_fault("E0101", value.span, "number format", text, FORMATS)
        return str(name)

    def read_overlaps(self, s: tree.Setting) -> None:
        """``overlap data 90%, tensor 50%``."""
        known = (*DIMENSIONS, "expert")
        found: dict[str, Fraction] = {**self.values.get("overlap", {})}  # type: ignore[dict-item]
        for item in s.items:
            word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
            share = re.fullmatch(r"(\w+) (?:%(\d+)|(\d+)(?: %| ?pct| ?percent))", item.span.text)
            if share is not None and share[1] in known:
                new = f"{share[1]} {share[2] or share[3]}%"
                fix = Fix(f"write `{new}`", ((item.span, new),), safe=False)
                message = "a share is a number and `%` behind it"
                raise Fault("E0120", item.span, message, help=f"write `overlap {new}`", fix=fix)
            value = only_value_behind(item)
            if word not in known or value is None:
                raise Fault(
                    "E0120",
                    item.span,
                    f"`overlap` is a dimension ({', '.join(known)}) and a share",
                    help="the form is `overlap data 90%`",
                )
            if word in found:
                raise Fault(
                    "E0104", item.span, f"`overlap {word}` is set twice", help=f"leave one `overlap {word}`"
                )
            found[str(word)] = self.share_of(value)
        self.values["overlap"], self.spans["overlap"] = found, s.span

    def read_measured(self, s: tree.Setting) -> None:
        """``measured flops 400Tflops``: what was measured of this job."""
        found: list[tuple[str, Fraction]] = [*self.values.get("measured", ())]  # type: ignore[misc]
        for item in s.items:
            word = item.value.bare if isinstance(item.value, tree.PathExpr) else None
            value = only_value_behind(item)
            if word == "tokens" and value is not None:
                count = count_of_expression(value, self.evaluator, self.scope)
                found.append((word, Fraction(count)))
                continue
            if word is None or word not in MEASURED or value is None:
                raise Fault(
                    "E0120",
                    item.span,
                    "`measured` is `step`, `flops` or `hardware` of a chip, `tokens` a second, or `mfu`",
                    help="the form is `measured step 6.2s`",
                )
            dim, form = MEASURED[word]
            found.append((word, self.share_of(value) if dim == NONE else self.amount(value, dim, form)))
        self.values["measured"], self.spans["measured"] = tuple(found), s.span

    def read_assumed(self, s: tree.Setting) -> None:
        """``assumed efficiency, microbatch``: settings of this block that no source has."""
        for item in s.items:
            word = item.value.bare if isinstance(item.value, tree.PathExpr) and not item.args else None
            if word not in SETTINGS and word not in TRANSFORMER:
                raise unknown_name_fault(
                    "E0101", item.span, "setting of a job", item.span.text, (*SETTINGS, *TRANSFORMER)
                )
            self.assumed.add("format" if word == "precision" else str(word))

    def read_source(self, s: tree.Setting) -> None:
        """``source "…"``: where the figures of this block are from."""
        value = self.only_item(s, 'source "arXiv 2407.21783, table 4"')
        text = self.evaluator.evaluate(value, self.scope)
        if not isinstance(text, str):
            raise Fault("E0103", value.span, f"expected a string, found {a_type(text)}")
        if not text.strip():
            raise Fault(
                "E0120", value.span, "this source is empty", help="name the source, or remove `source`"
            )
        self.set_value("source", s, text)


_LISTS = ("order", "overlap", "measured", "assumed", "on")
"""Settings of a job that are lists, which say something only with a value."""


def _number_of_experts(item: tree.SettingItem, word: str) -> tree.Expr | None:
    """The number in ``top 8`` or ``limit 4 hosts``; None where other words are there."""
    words = _words_behind(item)
    if len(words) != (2 if word == "limit" else 1) or any(w for w, _ in item.args):
        return None
    return item.args[0][1] if word != "limit" or words[1] == "hosts" else None


def _words_behind(item: tree.SettingItem) -> tuple[str | None, ...]:
    """The words behind the value of an item."""
    return tuple(e.bare if isinstance(e, tree.PathExpr) and not w else None for w, e in item.args)


def count_of_expression(e: tree.Expr, evaluator: Evaluator, scope: Scope) -> int:
    """A count such as ``405B`` parameters or ``15T`` tokens: thousands, millions, billions or trillions
    behind a number, or a whole number. Raises Fault."""
    if isinstance(e, tree.Measure) and e.unit in SCALES:
        amount = integer_if_whole(Fraction(e.value) * 10 ** SCALES[e.unit])
    else:
        amount = integer_if_whole(evaluator.evaluate(e, scope))
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 < amount <= MOST:
        raise Fault(
            "E0103",
            e.span,
            f"expected a count above zero, found {a_type(amount)}",
            help="write a whole number, or thousands, millions, billions or trillions: `70B`, `15T`",
        )
    return amount


# ---------------------------------------------------------------- what fits

REQUIRED = ("hidden", "layers", "sequence", "batch")


def _refuse_incomplete_job(job: Job) -> None:
    """Raise Fault where a setting is missing that every job needs."""
    missing = [n for n in REQUIRED if not getattr(job, n)]
    if missing:
        raise Fault(
            UNFIT,
            job.span,
            f"job `{job.name}` needs `{'`, `'.join(missing)}`",
            help="`transformer { layers 96; hidden 12288 }` and `sequence 2048; batch 1536` say these",
        )


def refuse_unfit_job(job: Job, spans: Mapping[str, SourceSpan], whole: bool = True) -> None:
    """Raise Fault where the numbers of a job do not fit each other, with the nearest that do; or where
    something is missing, if it is to be ``whole``. ``spans`` has the places of settings, those of the job's
    own block first."""
    if whole:
        _refuse_incomplete_job(job)
    if job.experts and not (job.active and job.parameters):
        help = "write `parameters 671B; active 37B`"
        message = f"job `{job.name}` has experts and needs `parameters` and `active`"
        raise Fault(UNFIT, job.span, message, help=help)
    if job.expert > 1 and not job.experts:
        raise Fault(
            UNFIT,
            spans["expert"],
            "`expert` divides experts, and the job has none",
            help="write `experts 256, top 8`, or leave it out",
        )
    for divided, part, name, others, said in _divisions_of_job(job):
        if divided and divided % part:
            raise _remainder_fault(divided, part, name, _place_among(spans, (name, *others), job), said)
    parts, layers = job.pipeline * job.interleave, job.layers + job.uncounted
    if job.layers and parts > layers:
        raise Fault(
            UNFIT,
            _place_among(spans, ("pipeline", "interleave", "layers"), job),
            f"pipeline · interleave = {parts} parts are more than {layers} layers",
            help=f"write `interleave {max(layers // job.pipeline, 1)}` or fewer stages",
        )


def _divisions_of_job(job: Job) -> list[tuple[int, int, str, tuple[str, ...], str]]:
    """What must divide what: a number, its divisor, the setting of that, other settings, and words."""
    beside, groups = job.data * job.context, job.data * job.microbatch
    batch = f"the batch of {job.batch} is divided by data · microbatch = {groups}"
    ranks = f"data · context = {beside} ranks are divided into groups of `expert`"
    sequence = f"the sequence of {job.sequence} is divided by `context`"
    return [
        (job.heads, job.tensor, "tensor", ("heads",), f"{job.heads} heads are divided by `tensor`"),
        (job.batch, groups, "batch", ("data", "microbatch"), batch),
        (job.sequence, job.context, "context", ("sequence",), sequence),
        (job.experts, job.expert, "expert", ("experts",), f"{job.experts} experts are divided by `expert`"),
        (beside, job.expert, "expert", ("data", "context"), ranks),
    ]


def _place_among(spans: Mapping[str, SourceSpan], names: tuple[str, ...], job: Job) -> SourceSpan:
    """The first place of one of these settings."""
    return next((span for key, span in spans.items() if key in names), job.span)


def _remainder_fault(whole: int, part: int, name: str, place: SourceSpan, said: str) -> Fault:
    """The fault of a number that does not divide another, with the nearest that do."""
    words = place.text.split()
    if name == "batch":
        lower, upper = whole // part * part, -(-whole // part) * part
    else:
        lower, upper = nearest_that_fit(whole, part)
    near = [f"`{name} {n}`" for n in (lower, upper) if n]
    new = f"{name} {lower or upper}"
    mends = words[:1] == [name] and len(words) == 2
    fix = Fix(f"write `{new}`", ((place, new),), safe=False) if mends else None
    message = f"{said}, which leaves a remainder of {whole % part}"
    return Fault(UNFIT, place, message, help=f"write {' or '.join(near)}", fix=fix)


def nearest_that_fit(whole: int, part: int) -> tuple[int, int]:
    """The greatest divisor of ``whole`` below ``part`` and the least above it; 0 for none."""
    lower = next((n for n in range(min(part, whole), max(0, part - 100_000), -1) if whole % n == 0), 0)
    upper = next((n for n in range(part, min(whole, part + 100_000) + 1) if whole % n == 0), 0)
    return lower, upper


def _words_behind_precision_fault(s: tree.Setting) -> Fault:
    """``precision bf16, gradients fp32``: the format of what is moved stands in braces."""
    first, *others = (i.span.text for i in s.items)
    if others[0] in FORMATS:
        help = f"write `precision {first} {{ gradients {others[0]} }}` where gradients have it"
        message = "`precision` is the format of the matrix products, which is one"
        return Fault("E0118", s.items[1].span, message, help=help)
    inside = "; ".join([*others, *(x.span.text.rstrip("; ") for x in s.body or ())])
    new = f"precision {first} {{ {inside} }}"
    message = f"`{others[0]}` belongs in the braces of `precision`"
    fix = Fix(f"write `{new}`", ((s.span, new),), safe=False)
    return Fault("E0118", s.span, message, help=f"write `{new}`", fix=fix)
