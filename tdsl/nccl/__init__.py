"""Files of NCCL, read and judged as NCCL does."""
