"""What a training job computes and sends: parameters, FLOPs, bubble, bytes, by published formulas.

Sources: Narayanan et al., "Efficient large-scale language model training on GPU clusters using Megatron-LM",
SC 2021 (arXiv 2104.04473): parameters, pipelines and their bubble; Korthikanti et al., "Reducing activation
recomputation in large transformer models" (arXiv 2205.05198): sequence parallelism; Chowdhery et al., "PaLM"
(arXiv 2204.02311, appendix B): FLOPs of a token, with attention; "The Llama 3 herd of models" (arXiv
2407.21783, section 3.3): pipelines in interleaved parts, context parallelism; DeepSeek-AI, "Insights into
DeepSeek-V3" (arXiv 2505.09343, section 2.3.2): dispatch and combine of experts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tdsl.semantics.jobs import Job
from tdsl.system.lazy_dataclass import dataclass

BITS = 8
DAY = 86_400


# ---------------------------------------------------------------- parameters and FLOPs


def parameters_of_transformer(job: Job) -> int:
    """Parameters of the layers and both embeddings: queries and results of all heads, keys and values of
    theirs, two matrices of the feed-forward network, three where it is gated, and the vocabulary twice where
    it is gated (such models do not share it), once else. Biases, norms and positions are left out: less than
    0.1 % of any preset."""
    width, keys = job.attention_width, (job.kv_heads or job.heads or 1) * job.size_of_head
    attention = 2 * job.hidden * width + 2 * job.hidden * (keys or width)
    forward = (3 if job.gated else 2) * job.hidden * (job.ffn or 4 * job.hidden)
    return job.layers * (attention + forward) + (2 if job.gated else 1) * job.vocab * job.hidden


def all_parameters(job: Job) -> int:
    """Parameters of the job: as stated, else of its transformer."""
    return job.parameters or parameters_of_transformer(job)


def active_parameters(job: Job) -> int:
    """Parameters that a token passes."""
    return job.active or all_parameters(job)


def expert_parameters(job: Job) -> int:
    """Parameters of the routed experts, of which a token passes ``top`` of ``experts``: from what all and the
    active ones are, as both hold the same rest; 0 without experts."""
    if not job.experts or job.experts <= job.top:
        return 0
    return (all_parameters(job) - active_parameters(job)) * job.experts // (job.experts - job.top)


def attention_flops_of_token(job: Job, counted: str) -> int:
    """FLOPs of a token in the products of attention, forward and backward: 12 · layers · width · sequence,
    half of that where it is ``causal``, 0 for ``none`` (PaLM, appendix B)."""
    whole = 12 * job.layers * job.attention_width * job.sequence
    return {"none": 0, "causal": whole // 2, "full": whole}[counted]


def model_flops_of_token(job: Job) -> int:
    """FLOPs of a token that the model needs: 6 for each active parameter, and attention as the job counts
    it."""
    return 6 * active_parameters(job) + attention_flops_of_token(job, job.attention)


def hardware_flops_of_token(job: Job) -> int:
    """FLOPs of a token that are computed: a third more where the forward pass is done again."""
    each = model_flops_of_token(job)
    return each * 4 // 3 if job.recompute == "full" else each


def model_flops(job: Job) -> int:
    """FLOPs of a step that the model needs."""
    return model_flops_of_token(job) * job.tokens


def hardware_flops(job: Job) -> int:
    """FLOPs of a step that are computed."""
    return hardware_flops_of_token(job) * job.tokens


def utilisation_of_step(job: Job, seconds: Fraction, peak: Fraction) -> Fraction:
    """MFU: the share of the peak of all ranks (FLOP/s of one) that a step of so many seconds needs for the
    model."""
    return model_flops(job) / (seconds * job.ranks * peak)


def step_of_rate(job: Job, rate: Fraction) -> Fraction:
    """Seconds of a step in which each rank does ``rate`` FLOP/s of the model's."""
    return model_flops(job) / (job.ranks * rate)


def measured_step(job: Job, peak: Fraction) -> Fraction | None:
    """Seconds of a step by the first thing that was measured of a job; None where nothing was."""
    for word, amount in job.measured:
        if word == "step":
            return amount
        if word == "tokens":
            return job.tokens / amount
        if word == "hardware":
            return hardware_flops(job) / (job.ranks * amount)
        return step_of_rate(job, amount if word == "flops" else amount * peak)
    return None


def days_of_tokens(job: Job, seconds: Fraction, tokens: int) -> Fraction:
    """Days that so many tokens take at ``seconds`` a step."""
    return tokens * seconds / job.tokens / DAY


# ---------------------------------------------------------------- pipelines


def bubble_of_pipeline(job: Job) -> Fraction:
    """What waiting for the pipeline adds to compute, as a share of it: (p - 1) / (v · m), p stages of v parts
    and m microbatches (arXiv 2104.04473, section 2.2)."""
    return Fraction(job.pipeline - 1, job.interleave * job.microbatches)


def layers_of_stage(job: Job) -> int:
    """Layers of the fullest stage, those of embedding and output counted as one each."""
    parts = job.pipeline * job.interleave
    return -(-(job.layers + job.uncounted) // parts) * job.interleave


def imbalance_of_stages(job: Job) -> Fraction:
    """How much longer the fullest stage computes than all on average."""
    return Fraction(layers_of_stage(job) * job.pipeline, job.layers + job.uncounted)


# ---------------------------------------------------------------- what is sent


@dataclass(frozen=True, slots=True)
class JobOperation:
    """A collective operation that every group of a dimension does ``count`` times in a step.

    ``kind`` is ``all_gather`` or ``reduce_scatter`` of ``bytes`` in all, ``all_to_all`` of ``bytes`` held by
    each rank, ``ring`` of ``bytes`` that each rank sends to the next one, ``forward`` and ``backward`` of
    ``bytes`` to the next and to the previous rank, in a circle where ``wraps``. ``host_share`` is what of it
    leaves hosts, where a token goes to a limited number of them."""

    dimension: str
    name: str
    kind: str
    bytes: Fraction
    count: int
    wraps: bool = True
    host_share: Fraction = Fraction(1)

    def sent_by_rank(self, group: int) -> Fraction:
        """Bytes that a rank of a group of so many sends in one of them."""
        if self.kind in ("all_gather", "reduce_scatter", "all_to_all"):
            return self.bytes * (group - 1) / group
        return self.bytes if group > 1 else Fraction(0)


def activation_bytes(job: Job) -> Fraction:
    """Bytes of what a layer hands to the next one, for a microbatch in its part of the sequence."""
    return job.microbatch * Fraction(job.sequence, job.context) * job.hidden * job.size_of(job.format)


def operations_of_job(job: Job) -> list[JobOperation]:
    """All that a job sends in a step, dimension by dimension."""
    makers = (
        _tensor_operations,
        _context_operations,
        _pipeline_operations,
        _data_operations,
        _expert_operations,
    )
    return [op for make in makers for op in make(job) if op.bytes and op.count]


def group_size(job: Job, dimension: str) -> int:
    """Ranks of a group of a dimension. Gradients are summed over `data` and `context` together."""
    if dimension == "data":
        return job.data * job.context
    if dimension == "experts' data":
        return job.data * job.context // job.expert
    return int(getattr(job, dimension))


def _tensor_operations(job: Job) -> Iterator[JobOperation]:
    """Per layer and microbatch two all-gathers and two reduce-scatters forward, and as many backward; forward
    again where it is recomputed."""
    if job.tensor < 2:
        return
    passes = 3 if job.recompute == "full" else 2
    count = 2 * passes * layers_of_stage(job) * job.microbatches
    for kind in ("all_gather", "reduce_scatter"):
        yield JobOperation("tensor", f"{kind} of activations", kind, activation_bytes(job), count)


def _context_operations(job: Job) -> Iterator[JobOperation]:
    """Keys and values once round the ring of the sequence's parts, per layer and microbatch; backward twice
    as much."""
    if job.context < 2:
        return
    heads = Fraction(job.kv_heads or job.heads or 1, job.tensor)
    width = heads * job.size_of_head if job.heads else Fraction(job.hidden, job.tensor)
    each = 2 * job.microbatch * Fraction(job.sequence, job.context) * width * job.size_of(job.format)
    passes = 4 if job.recompute == "full" else 3
    count = passes * layers_of_stage(job) * job.microbatches * (job.context - 1)
    yield JobOperation("context", "keys and values round the ring", "ring", each, count)


def _pipeline_operations(job: Job) -> Iterator[JobOperation]:
    """Per microbatch and part of a stage what a layer hands on, shared among the ranks of `tensor`, forward
    and backward."""
    if job.pipeline < 2:
        return
    each = activation_bytes(job) / job.tensor
    count = job.microbatches * job.interleave
    for kind, words in (("forward", "activations"), ("backward", "their gradients")):
        yield JobOperation("pipeline", f"{words} {kind}", kind, each, count, job.interleave > 1)


def _data_operations(job: Job) -> Iterator[JobOperation]:
    """Gradients once a step as a reduce-scatter, and an all-gather of gradients or, where something is
    sharded, of parameters: two where the parameters themselves are. Experts' over fewer ranks."""
    routed = expert_parameters(job)
    stages = job.tensor * job.pipeline
    parts = (
        ("data", Fraction(all_parameters(job) - routed, stages)),
        ("experts' data", Fraction(routed, job.pipeline * job.expert)),
    )
    for dimension, held in parts:
        if group_size(job, dimension) < 2:
            continue
        gradients, parameters = job.size_of("gradients"), job.size_of("parameters")
        yield JobOperation(dimension, "reduce_scatter of gradients", "reduce_scatter", held * gradients, 1)
        if job.shard == "nothing":
            yield JobOperation(dimension, "all_gather of gradients", "all_gather", held * gradients, 1)
        else:
            count = 2 if job.shard == "parameters" else 1
            yield JobOperation(dimension, "all_gather of parameters", "all_gather", held * parameters, count)


def _expert_operations(job: Job) -> Iterator[JobOperation]:
    """Tokens to their experts and back, per layer and microbatch; with the backward pass twice."""
    if job.expert < 2:
        return
    tokens = job.microbatch * Fraction(job.sequence, job.context) / job.tensor
    share = Fraction(min(job.host_limit, job.top), job.top) if job.host_limit else Fraction(1)
    passes = 3 if job.recompute == "full" else 2
    count = passes * layers_of_stage(job) * job.microbatches
    for what in ("dispatch", "combine"):
        size = expert_exchange_bytes(tokens, job.top, job.hidden, job.size_of(what))
        yield JobOperation("expert", f"{what} of tokens", "all_to_all", size, count, host_share=share)


def expert_exchange_bytes(tokens: Fraction, experts: int, hidden: int, number: Fraction) -> Fraction:
    """Bytes that a rank holds for the experts of its tokens: each token goes to so many, as ``hidden``
    numbers of ``number`` bytes."""
    return tokens * experts * hidden * number
