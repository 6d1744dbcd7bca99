#!/usr/bin/python3
"""Writes a GGUF file with the weights of a Qwen3 checkpoint, as they were trained, and the keys of another
GGUF file of the same model: what quantised files of it are made from, and measured against. Needs numpy.

    bench/trained_gguf.py QUANTISED.gguf model.safetensors OUT.gguf
"""

import json
import re
import struct
import sys

import numpy as np

from random_gguf import Keys, MIXES, Tensor, aligned, header, u32

NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    layer = re.fullmatch(r"model\.layers\.(\d+)\.(.*)\.weight", name)
    if layer:
        return f"blk.{layer[1]}.{NAMES[layer[2]]}.weight"
    return NAMES[name.removesuffix(".weight")] + ".weight"


def read_safetensors(path):
    """Each tensor's GGUF name, shape and BF16 bytes."""
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack_from("<Q", data)
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "BF16":
            sys.exit(f"{path}: {name} is {entry['dtype']} and not BF16")
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        yield gguf_name(name), entry["shape"], data[begin:end]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, checkpoint, out = sys.argv[1:]
    keys = Keys(source).values | {"general.file_type": u32(MIXES["bf16"][1])}
    written = []
    for name, shape, data in read_safetensors(checkpoint):
        # Norms stay floats, as readers want them.
        vector = len(shape) == 1
        if vector:
            data = (np.frombuffer(data, "<u2").astype("<u4") << 16).tobytes()
        written.append((Tensor(name, tuple(reversed(shape)), 0, type="F32" if vector else "BF16"), data))
    with open(out, "wb") as file:
        file.write(header(keys, [tensor for tensor, _ in written])[0])
        for tensor, data in written:
            file.write(data + bytes(aligned(tensor.bytes) - tensor.bytes))


if __name__ == "__main__":
    main()
