"""Makes the seeds of the fuzz targets that are not stored: from the test data, from the project's own
files, and a few binary ones. Standard library only; the same input gives the same files.

usage: seeds.py DATA SOURCE OUT     DATA: the test data (may be missing), SOURCE: the checkout

OUT/TARGET/... is written; what is there already stays.
"""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

LONGEST = 64 << 10  # a longer seed slows its target down more than it helps

U32, F32, BOOLEAN, STRING, ARRAY = 4, 6, 7, 8, 9
FIXED = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a type


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    if kind == STRING:
        return text(name) + struct.pack("<I", STRING) + text(value)
    if kind == ARRAY:
        element, items = value
        body = b"".join(text(i) if element == STRING else struct.pack({U32: "<I", F32: "<f"}[element], i)
                        for i in items)
        return text(name) + struct.pack("<IIQ", ARRAY, element, len(items)) + body
    return text(name) + struct.pack("<I", kind) + struct.pack({U32: "<I", F32: "<f", BOOLEAN: "<?"}[kind], value)


def gguf(keys, tensors):
    """A file of which only the tensors' data are missing: the target adds them as zeros."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys)
    offset = 0
    for name, shape in tensors:
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
        head += struct.pack("<IQ", 0, offset)  # F32
        size = 4
        for n in shape:
            size *= n
        offset += (size + 31) // 32 * 32
    return head + bytes(-len(head) % 32)


def small_models():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["▁", "t", "h", "▁t"]
    types = [2, 3, 3] + [6] * 256 + [1] * 4
    vocabulary = {
        "llama": [
            key("tokenizer.ggml.model", STRING, "llama"),
            key("tokenizer.ggml.tokens", ARRAY, (STRING, tokens)),
            key("tokenizer.ggml.scores", ARRAY, (F32, [-float(i) for i in range(len(tokens))])),
            key("tokenizer.ggml.token_type", ARRAY, (U32, types)),
            key("tokenizer.ggml.bos_token_id", U32, 1),
            key("tokenizer.ggml.add_bos_token", BOOLEAN, True),
        ],
        "gpt2": [
            key("tokenizer.ggml.model", STRING, "gpt2"),
            key("tokenizer.ggml.pre", STRING, "qwen2"),
            key("tokenizer.ggml.tokens", ARRAY, (STRING, ["a", "b", "ab", "<|im_end|>"])),
            key("tokenizer.ggml.token_type", ARRAY, (U32, [1, 1, 1, 3])),
            key("tokenizer.ggml.merges", ARRAY, (STRING, ["a b"])),
            key("tokenizer.ggml.eos_token_id", U32, 3),
        ],
    }
    for architecture, kind, rows in (("llama", "llama", len(tokens)), ("qwen2", "gpt2", 4), ("qwen3", "gpt2", 4)):
        names = [
            key("general.architecture", STRING, architecture),
            key(f"{architecture}.block_count", U32, 1),
            key(f"{architecture}.context_length", U32, 64),
            key(f"{architecture}.embedding_length", U32, 8),
            key(f"{architecture}.feed_forward_length", U32, 16),
            key(f"{architecture}.attention.head_count", U32, 2),
            key(f"{architecture}.attention.head_count_kv", U32, 1),
            key(f"{architecture}.attention.layer_norm_rms_epsilon", F32, 1e-5),
            key(f"{architecture}.rope.freq_base", F32, 10000.0),
            key(f"{architecture}.rope.scaling.type", STRING, "yarn"),
            key(f"{architecture}.rope.scaling.factor", F32, 2.0),
            key(f"{architecture}.rope.scaling.original_context_length", U32, 32),
        ]
        tensors = [("token_embd.weight", (8, rows)), ("output_norm.weight", (8,))]
        for name, shape in (("attn_norm", (8,)), ("attn_q", (8, 8)), ("attn_k", (8, 4)), ("attn_v", (8, 4)),
                            ("attn_output", (8, 8)), ("ffn_norm", (8,)), ("ffn_gate", (8, 16)),
                            ("ffn_up", (8, 16)), ("ffn_down", (16, 8))):
            tensors.append((f"blk.0.{name}.weight", shape))
        if architecture == "qwen2":
            tensors += [("blk.0.attn_q.bias", (8,)), ("blk.0.attn_k.bias", (4,)), ("blk.0.attn_v.bias", (4,))]
        if architecture == "qwen3":
            tensors += [("blk.0.attn_q_norm.weight", (4,)), ("blk.0.attn_k_norm.weight", (4,))]
        yield architecture, gguf(names + vocabulary[kind], tensors)


def head_size(data):
    """Where the tensors' data of a good file begin."""
    _, n_tensors, n_keys = struct.unpack_from("<IQQ", data, 4)
    at = 24

    def skip(kind, at):
        if kind == STRING:
            return at + 8 + struct.unpack_from("<Q", data, at)[0]
        if kind == ARRAY:
            element, count = struct.unpack_from("<IQ", data, at)
            at += 12
            if element in FIXED:
                return at + count * FIXED[element]
            for _ in range(count):
                at = skip(element, at)
            return at
        return at + FIXED[kind]

    for _ in range(n_keys):
        at = skip(STRING, at)
        at = skip(struct.unpack_from("<I", data, at)[0], at + 4)
    for _ in range(n_tensors):
        at = skip(STRING, at)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
    return (at + 31) // 32 * 32


def models(data):
    for path in sorted((data / "gguf").glob("*.gguf")) + sorted((data / "fixtures/gguf").glob("*.gguf")):
        whole = path.read_bytes()
        yield path.stem, whole[: head_size(whole)]
    script = data / "gguf-damaged/mutate.py"
    bases = {"stories": data / "stories260K/stories260K-F16.gguf", "qwen": data / "gguf/qwen2-tiny-bf16.gguf"}
    if not script.exists():
        return
    longest = max(head_size(path.read_bytes()) for path in bases.values()) + 64
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, script, folder]
        for name, path in bases.items():
            command += [f"--{name}", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).glob("*.gguf")):
            with open(path, "rb") as file:
                yield "damaged-" + path.stem, file.read(longest)


def elf_object(unique, nodelete):
    """A shared object as the host reads it: one segment with all of it, a string table, symbols of which one is the
    entry, a dynamic section and a relocation, and the section header that tells how many symbols there are."""
    names = [b"plain", b"unique", b"__cxa_thread_atexit_impl", b"halogen_plugin_entry", b"libc.so.6", b"$ORIGIN"]
    strings, place = b"\0", {}
    for name in names:
        place[name] = len(strings)
        strings += name + b"\0"
    strings += bytes(-len(strings) % 8)
    header_bytes, segments = 64, 2
    strings_at = header_bytes + 56 * segments
    entry_at = strings_at + len(strings)
    entry = struct.pack("<IHHHHI", 56, 1, 0, 0, 0, 0) + bytes(40)  # halogen_plugin
    symbol = lambda name, info, section, at: struct.pack("<IBBHQQ", place[name], info, 0, section, at, 56)
    symbols = bytes(24) + symbol(b"plain", 0x12, 1, 0) + symbol(b"unique", 0xA1 if unique else 0x11, 1, 0)
    symbols += symbol(b"__cxa_thread_atexit_impl", 0x12, 0, 0) + symbol(b"halogen_plugin_entry", 0x11, 1, entry_at)
    symbols_at = entry_at + len(entry)
    relocations = struct.pack("<QQq", entry_at + 16, 8, strings_at + 1)  # R_X86_64_RELATIVE of the descriptor
    relocations_at = symbols_at + len(symbols)
    dynamic_at = relocations_at + len(relocations)
    tags = [(1, place[b"libc.so.6"]), (29, place[b"$ORIGIN"]), (5, strings_at), (6, symbols_at),
            (7, relocations_at), (8, len(relocations)), (0x6FFFFFFB, 8 if nodelete else 0), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    sections_at = dynamic_at + len(dynamic)
    section = struct.pack("<IIQQQQIIQQ", 0, 11, 2, symbols_at, symbols_at, len(symbols), 0, 1, 8, 24)
    end = sections_at + len(section)
    segment = lambda kind, at, size: struct.pack("<IIQQQQQQ", kind, 6, at, at, at, size, size, 8)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections_at, 0, 64, 56, segments, 64, 1, 0)
    head += segment(1, 0, end) + segment(2, dynamic_at, len(dynamic))
    return head + strings + entry + symbols + relocations + dynamic + section


def conversations(data):
    for path in sorted((data / "golden/tokenizers").glob("*/chat_golden_*.json")):
        golden = json.loads(path.read_text())
        yield path.stem, golden["template"], golden.get("cases", [])


def own_templates(data):
    for path in sorted((data / "templates").glob("*.jinja")):
        yield path.stem, path.read_text()


def texts(data):
    for path in sorted((data / "vocab").glob("*.inp"))[:4]:
        yield from path.read_text(errors="replace").split("\n__ggml_vocab_test__\n")
    for path in sorted((data / "golden/tokenizers").glob("*/golden_encodings.json"))[:4]:
        yield from (case["text"] for case in json.loads(path.read_text())["cases"])


class Writer:
    def __init__(self, out):
        self.out = out
        self.count = {}

    def add(self, target, content, name=None):
        content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        if len(content) > LONGEST:
            return
        folder = self.out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (name or hashlib.sha1(content).hexdigest()[:12])).write_bytes(content)
        self.count[target] = self.count.get(target, 0) + 1


def main(data, source, out):
    writer = Writer(out)
    for name, content in list(small_models()) + list(models(data)):
        writer.add("gguf", content, name)
    for unique in (False, True):
        for nodelete in (False, True):
            writer.add("elf", elf_object(unique, nodelete), f"object-{unique:d}{nodelete:d}")
    for name, template in own_templates(data):
        writer.add("template", template, name)
    for name, template, cases in conversations(data):
        for case in cases[:6]:
            seen = {k: v for k, v in case.items() if k in ("messages", "tools", "documents", "kwargs")}
            seen.update(seen.pop("kwargs", None) or {})
            writer.add("template", template + "\n-----\n" + json.dumps(seen, ensure_ascii=False))
            if "messages" in seen:
                body = json.dumps({"model": "tiny", "messages": seen["messages"]}, ensure_ascii=False)
                writer.add("api", "/v1/chat/completions\n" + body)
    for path in sorted((source / "etc").rglob("*.toml")):
        lines = path.read_text().splitlines()
        writer.add("profile", "\n".join(lines), path.name)
        settings = [line[1:] if line.startswith("#") and not line.startswith("# ") else line for line in lines]
        writer.add("profile", "\n".join(line for line in settings if not line.startswith("#")), "set-" + path.name)
    for path in sorted(source.glob("plugins/*/*.toml")) + sorted(source.glob("examples/*/*.toml")):
        writer.add("manifest", path.read_bytes(), path.name)
    for sample in texts(data):
        writer.add("tokenizer", sample)
    for target in ("api", "flags", "http", "template"):  # every target has a folder
        (out / target).mkdir(parents=True, exist_ok=True)
    print(", ".join(f"{target} {count}" for target, count in sorted(writer.count.items())))


if __name__ == "__main__":
    main(*(pathlib.Path(argument) for argument in sys.argv[1:4]))
