#!/usr/bin/python3
"""Writes a GGUF file with random weights, of any shape and weight type: what a model costs depends on its
shape and types, not on its values. Needs numpy.

    bench/random_gguf.py --preset qwen2.5-0.5b --type q4_k_m --vocabulary VOCABULARY.gguf OUT.gguf
    bench/random_gguf.py --architecture qwen3 --layers 2 --hidden 64 --feed-forward 128 --heads 4 --kv-heads 2 OUT.gguf

The weights keep activations and logits in a sane range, and the same seed gives the same file. --type is
what llama.cpp's quantiser is asked for, and each tensor gets the type that it would give. --vocabulary takes
the tokenizer from another GGUF file (a vocabulary-only one does); without it there are the 256 bytes.
--sparse leaves the weights as holes: all zeros, on no disk space, for what only looks at the shape.
"""

import argparse
import dataclasses
import struct
import sys
import zlib

import numpy as np

ALIGNMENT = 32
CHUNK = 1 << 22  # weights generated at once

# --- The file format ---------------------------------------------------------------------------------

U32, I32, F32, BOOLEAN, STRING, ARRAY = 4, 5, 6, 7, 8, 9
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def packed_text(data):
    return struct.pack("<Q", len(data)) + data


def u32(value):
    return struct.pack("<II", U32, value)


def f32(value):
    return struct.pack("<If", F32, value)


def text(value):
    return struct.pack("<I", STRING) + packed_text(value.encode())


def array(element, count, body):
    return struct.pack("<IIQ", ARRAY, element, count) + body


class Keys:
    """Reads the keys of a GGUF file; values stay as bytes, type included."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:4] != b"GGUF":
            sys.exit(f"{path}: not a GGUF file")
        _, _, count = struct.unpack_from("<IQQ", self.data, 4)
        self.at = 24
        self.values = {}
        for _ in range(count):
            name = self.text().decode()
            start = self.at
            self.skip(self.number("<I"))
            self.values[name] = self.data[start:self.at]

    def number(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("<Q")
        self.at += size
        return self.data[self.at - size:self.at]

    def skip(self, kind):
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            element, count = self.number("<I"), self.number("<Q")
            if element == STRING:
                for _ in range(count):
                    self.text()
            else:
                self.at += count * WIDTH[element]
        else:
            self.at += WIDTH[kind]


# --- Weight types --------------------------------------------------------------------------------------
# Each generator gives blocks of its type whose weights have mean 0 and the standard deviation `spread`.


def halves(values):
    return values.astype("<f2").view(np.uint8).reshape(len(values), 2)


def random_bytes(random, *shape):
    return np.frombuffer(random.bytes(int(np.prod(shape))), np.uint8).reshape(shape)


def scales(random, count, scale):
    """One scale a block, of either sign so that codes that are not centred average out."""
    return halves(scale * random.uniform(0.8, 1.2, count) * random.choice((-1.0, 1.0), count))


def make_f32(random, count, spread):
    return (random.standard_normal(count, np.float32) * np.float32(spread)).view(np.uint8)


def make_f16(random, count, spread):
    return halves(random.standard_normal(count, np.float32) * np.float32(spread))


def make_bf16(random, count, spread):
    # The upper half of a float; what is cut off does not matter here.
    return make_f32(random, count, spread).reshape(count, 4)[:, 2:]


def legacy(code_bytes, code_deviation):
    """Q4_0, Q5_0, Q8_0: a half for the scale, then codes of which every bit pattern is valid."""
    return lambda random, count, spread: np.concatenate(
        [scales(random, count, spread / code_deviation), random_bytes(random, count, code_bytes)], axis=1)


def make_q4_k(random, count, spread):
    # scale * code - minimum with 4-bit codes: the minimum lies at the codes' mean, 7.5.
    parts = random.integers(32, 64, (count, 8), np.uint8)
    low, high = parts[:, :4], parts[:, 4:]
    top = (high >> 4) << 6
    packed = np.concatenate([low | top, low | top, (high & 15) | (high << 4)], axis=1)
    scale = spread / (47.5 * 4.65) * random.uniform(0.8, 1.2, count)
    return np.concatenate([halves(scale), halves(7.5 * scale), packed, random_bytes(random, count, 128)], axis=1)


def make_q6_k(random, count, spread):
    parts = random.integers(32, 128, (count, 16), np.int8) * random.choice(np.array([-1, 1], np.int8), (count, 16))
    scale = halves(spread / (80 * 18.5) * random.uniform(0.8, 1.2, count))
    return np.concatenate([random_bytes(random, count, 192), parts.view(np.uint8), scale], axis=1)


@dataclasses.dataclass(frozen=True)
class Type:
    number: int  # GGUF's
    block: int  # weights
    bytes: int  # of a block
    make: object


TYPES = {
    "F32": Type(0, 1, 4, make_f32),
    "F16": Type(1, 1, 2, make_f16),
    "Q4_0": Type(2, 32, 18, legacy(16, 4.64)),
    "Q5_0": Type(6, 32, 22, legacy(20, 9.25)),
    "Q8_0": Type(8, 32, 34, legacy(32, 73.9)),
    "Q4_K": Type(12, 256, 144, make_q4_k),
    "Q6_K": Type(14, 256, 210, make_q6_k),
    "BF16": Type(30, 1, 2, make_bf16),
}

# What --type stands for: the type of most tensors, and the number of the mix in general.file_type.
MIXES = {"f32": ("F32", 0), "f16": ("F16", 1), "q4_0": ("Q4_0", 2), "q8_0": ("Q8_0", 7), "q4_k_m": ("Q4_K", 15),
         "q6_k": ("Q6_K", 18), "bf16": ("BF16", 32)}

# What a row that is no multiple of the block gets instead.
FALLBACK = {"Q4_K": "Q5_0", "Q6_K": "Q8_0"}


def type_of(shape, mix, tensor):
    """The type that llama.cpp's quantiser gives a tensor without an importance matrix."""
    if len(tensor.dims) == 1:
        return "F32"
    base = MIXES[mix][0]
    chosen = base
    if base in ("F32", "F16", "BF16"):
        return base
    layer = tensor.layer
    eighth = shape.layers // 8
    if tensor.name == "output.weight" or (shape.tied and tensor.name == "token_embd.weight"):
        if base != "Q8_0":
            chosen = "Q6_K"
    elif mix == "q4_k_m" and tensor.kind in ("attn_v", "ffn_down"):
        if layer < eighth or layer >= 7 * shape.layers // 8 or (layer - eighth) % 3 == 2:
            chosen = "Q6_K"
    row = tensor.dims[0]
    if row % TYPES[chosen].block:
        chosen = FALLBACK.get(chosen, "F16")
    return chosen if row % TYPES[chosen].block == 0 else "F16"


# --- Shapes --------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Shape:
    architecture: str = "qwen2"
    layers: int = 24
    hidden: int = 896
    feed_forward: int = 4864
    heads: int = 14
    kv_heads: int = 2
    head_dim: int = 0  # 0: hidden / heads
    vocabulary_size: int = 0  # 0: the vocabulary's own
    context: int = 32768
    window: int = 0  # 0: every position sees all before it
    rope_base: float = 1e6
    tied: bool = False


PRESETS = {
    "qwen2.5-0.5b": Shape("qwen2", 24, 896, 4864, 14, 2, 64, 151936, tied=True),
    "qwen2.5-1.5b": Shape("qwen2", 28, 1536, 8960, 12, 2, 128, 151936, tied=True),
    "qwen2.5-7b": Shape("qwen2", 28, 3584, 18944, 28, 4, 128, 152064),
    "qwen2.5-32b": Shape("qwen2", 64, 5120, 27648, 40, 8, 128, 152064),
    "qwen3-0.6b": Shape("qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, tied=True),
    "qwen3-4b": Shape("qwen3", 36, 2560, 9728, 32, 8, 128, 151936, 40960, tied=True),
    "llama-3.1-8b": Shape("llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072, rope_base=5e5),
}


@dataclasses.dataclass
class Tensor:
    name: str
    dims: tuple  # GGUF's order: the row's length first
    spread: float
    mean: float = 0.0
    random_sign: bool = False
    layer: int = -1
    type: str = ""

    @property
    def kind(self):
        return self.name.split(".")[2] if self.layer >= 0 else self.name

    @property
    def bytes(self):
        one = TYPES[self.type]
        return int(np.prod(self.dims, dtype=np.int64)) // one.block * one.bytes


def tensors_of(shape):
    """All tensors in the file's order. Weights keep the variance of what they are applied to; logits get a
    spread of about 3. The last norm has random signs: else a tied model only repeats its last token."""
    hidden, queries = shape.hidden, shape.heads * shape.head_dim
    keys = shape.kv_heads * shape.head_dim

    def matrix(name, row, rows, layer=-1, gain=1.0):
        return Tensor(name, (row, rows), gain * row**-0.5, layer=layer)

    yield matrix("token_embd.weight", hidden, shape.vocabulary_size, gain=3.0)
    for layer in range(shape.layers):
        def norm(kind, size):
            return Tensor(f"blk.{layer}.{kind}.weight", (size,), 0.1, 1.0, layer=layer)

        def project(kind, row, rows):
            yield matrix(f"blk.{layer}.{kind}.weight", row, rows, layer)
            if shape.architecture == "qwen2" and kind in ("attn_q", "attn_k", "attn_v"):
                yield Tensor(f"blk.{layer}.{kind}.bias", (rows,), 0.2, layer=layer)

        yield norm("attn_norm", hidden)
        yield from project("attn_q", hidden, queries)
        yield from project("attn_k", hidden, keys)
        yield from project("attn_v", hidden, keys)
        if shape.architecture == "qwen3":
            yield norm("attn_q_norm", shape.head_dim)
            yield norm("attn_k_norm", shape.head_dim)
        yield from project("attn_output", queries, hidden)
        yield norm("ffn_norm", hidden)
        yield from project("ffn_gate", hidden, shape.feed_forward)
        yield from project("ffn_up", hidden, shape.feed_forward)
        yield from project("ffn_down", shape.feed_forward, hidden)
    yield Tensor("output_norm.weight", (hidden,), 0.1, 1.0, random_sign=True)
    if not shape.tied:
        yield matrix("output.weight", hidden, shape.vocabulary_size, gain=3.0)


# --- The model's keys ------------------------------------------------------------------------------------

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")

NORMAL, UNUSED = 1, 5


def byte_vocabulary():
    """The 256 bytes as GPT-2 writes them, and one merge, because readers want some."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    tokens = [letters[byte] for byte in range(256)] + [letters[32] * 2]
    body = b"".join(packed_text(token.encode()) for token in tokens)
    return {
        "tokenizer.ggml.model": text("gpt2"),
        "tokenizer.ggml.pre": text("qwen2"),
        "tokenizer.ggml.tokens": array(STRING, len(tokens), body),
        "tokenizer.ggml.token_type": array(I32, len(tokens), struct.pack("<i", NORMAL) * len(tokens)),
        "tokenizer.ggml.merges": array(STRING, 1, packed_text(f"{letters[32]} {letters[32]}".encode())),
        "tokenizer.ggml.eos_token_id": u32(0),
    }


def padded(vocabulary, size):
    """The vocabulary with unused tokens up to `size`, as converters write them; and how many it has."""
    _, _, count = struct.unpack_from("<IIQ", vocabulary["tokenizer.ggml.tokens"])
    size = size or count
    if size < count:
        sys.exit(f"the vocabulary has {count} tokens, more than --vocabulary-size {size}")
    names = b"".join(packed_text(b"[PAD%d]" % i) for i in range(count, size))
    more = {"tokens": (STRING, names), "token_type": (I32, struct.pack("<i", UNUSED) * (size - count)),
            "scores": (F32, struct.pack("<f", -1e4) * (size - count))}
    for name, (element, body) in more.items():
        key = f"tokenizer.ggml.{name}"
        if key in vocabulary:
            vocabulary[key] = array(element, size, vocabulary[key][16:] + body)
    return vocabulary, size


def keys_of(shape, mix, name, vocabulary):
    a = shape.architecture
    keys = {
        "general.architecture": text(a),
        "general.name": text(name),
        "general.file_type": u32(MIXES[mix][1]),
        "general.quantization_version": u32(2),
        f"{a}.context_length": u32(shape.context),
        f"{a}.embedding_length": u32(shape.hidden),
        f"{a}.block_count": u32(shape.layers),
        f"{a}.feed_forward_length": u32(shape.feed_forward),
        f"{a}.attention.head_count": u32(shape.heads),
        f"{a}.attention.head_count_kv": u32(shape.kv_heads),
        f"{a}.attention.key_length": u32(shape.head_dim),
        f"{a}.attention.value_length": u32(shape.head_dim),
        f"{a}.attention.layer_norm_rms_epsilon": f32(1e-6),
        f"{a}.rope.freq_base": f32(shape.rope_base),
        f"{a}.rope.dimension_count": u32(shape.head_dim),
        f"{a}.vocab_size": u32(shape.vocabulary_size),
    }
    if shape.window:
        keys[f"{a}.attention.sliding_window"] = u32(shape.window)
    keys |= vocabulary
    keys.setdefault("tokenizer.chat_template", text(CHAT_TEMPLATE))
    return keys


# --- Writing -----------------------------------------------------------------------------------------------


def aligned(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def header(keys, tensors):
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(keys))]
    parts += (packed_text(name.encode()) + value for name, value in keys.items())
    offset = 0
    for tensor in tensors:
        parts.append(packed_text(tensor.name.encode()) + struct.pack("<I", len(tensor.dims)) +
                     struct.pack(f"<{len(tensor.dims)}Q", *tensor.dims) +
                     struct.pack("<IQ", TYPES[tensor.type].number, offset))
        offset += aligned(tensor.bytes)
    data = b"".join(parts)
    return data + bytes(aligned(len(data)) - len(data)), offset


def write_weights(file, tensor, seed):
    # Each tensor has a generator of its own, so that its values do not depend on the others.
    random = np.random.Generator(np.random.SFC64([seed, zlib.crc32(tensor.name.encode())]))
    one = TYPES[tensor.type]
    if len(tensor.dims) == 1:
        values = tensor.mean + tensor.spread * random.standard_normal(tensor.dims[0], np.float32)
        if tensor.random_sign:
            values *= random.choice((-1.0, 1.0), tensor.dims[0])
        file.write(values.astype("<f4").tobytes())
    else:
        left = int(np.prod(tensor.dims, dtype=np.int64)) // one.block
        while left:
            count = min(left, CHUNK // one.block)
            file.write(one.make(random, count, tensor.spread).tobytes())
            left -= count
    file.write(bytes(aligned(tensor.bytes) - tensor.bytes))


def write(path, keys, tensors, seed, sparse):
    head, size = header(keys, tensors)
    with open(path, "wb") as file:
        file.write(head)
        if sparse:
            file.truncate(len(head) + size)
            return
        for tensor in tensors:
            write_weights(file, tensor, seed)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="the file to write")
    parser.add_argument("--preset", choices=PRESETS, help="the shape of a published model; options below change it")
    parser.add_argument("--type", choices=MIXES, default="q4_k_m")
    parser.add_argument("--vocabulary", metavar="GGUF", help="the file to take the tokenizer from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sparse", action="store_true", help="leave the weights as holes")
    parser.add_argument("--list", action="store_true", help="print each tensor's name, shape and type")
    for field in dataclasses.fields(Shape):
        flag = "--" + field.name.replace("_", "-")
        if field.type is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction)
        else:
            choices = ("llama", "qwen2", "qwen3") if field.name == "architecture" else None
            parser.add_argument(flag, type=field.type, choices=choices)
    return parser.parse_args()


def main():
    options = arguments()
    shape = dataclasses.replace(PRESETS[options.preset] if options.preset else Shape())
    for field in dataclasses.fields(Shape):
        given = getattr(options, field.name)
        if given is not None:
            setattr(shape, field.name, given)
    shape.head_dim = shape.head_dim or shape.hidden // shape.heads

    vocabulary = byte_vocabulary()
    if options.vocabulary:
        read = Keys(options.vocabulary).values
        vocabulary = {name: value for name, value in read.items() if name.startswith("tokenizer.")}
    vocabulary, shape.vocabulary_size = padded(vocabulary, shape.vocabulary_size)

    tensors = list(tensors_of(shape))
    for tensor in tensors:
        tensor.type = type_of(shape, options.type, tensor)
        if options.list:
            print(tensor.name, "x".join(map(str, tensor.dims)), tensor.type)
    name = f"{options.preset or shape.architecture} random {options.type}"
    write(options.out, keys_of(shape, options.type, name, vocabulary), tensors, options.seed, options.sparse)


if __name__ == "__main__":
    main()
