"""Reads a frame stream (core/wire) without any of our code: a second reader of the format."""
import struct

MAGIC = b"LOCKSTP\n"
HELLO, STEP, SAMPLES, TENSOR, EVENT, HEARTBEAT, GOODBYE = range(1, 8)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def many(self, form):
        """A count, then as many of eight bytes."""
        n = self.take("I")
        self.at += 8 * n
        return list(struct.unpack_from(f"<{n}{form}", self.data, self.at - 8 * n))

    def text(self):
        n = self.take("I")
        self.at += n
        return self.data[self.at - n : self.at].decode()


def frames(path):
    data = open(path, "rb").read()
    assert data[:8] == MAGIC and struct.unpack_from("<I", data, 8)[0] == 1, "not a stream of version 1"
    at = 12
    while at < len(data):
        length, kind, _ = struct.unpack_from("<IHH", data, at)
        yield kind, data[at + 8 : at + 8 + length]
        at += 8 + length
    assert at == len(data), "the stream ends inside a frame"


def step_record(payload):
    rank, step, count = struct.unpack_from("<iqI", payload)
    rows = struct.iter_unpack("<HHQ", payload[16 : 16 + 12 * count])
    return rank, step, {(quantity, index): bits for quantity, index, bits in rows}


def samples_record(payload):
    r = Reader(payload)
    rank, step, micro, epoch = r.take("iqiq")
    ids, hashes = r.many("q"), r.many("Q")
    return rank, step, micro, epoch, ids, hashes


def tensor_record(payload):
    r = Reader(payload)
    rank, step = r.take("iq")
    name = r.text()
    buffer, has, local, local_print, reduced, reduced_print, update, state, state_print = r.take("BIQQQQQQQ")
    return rank, step, name, {"buffer": buffer, "has": has, "local": local, "local_print": local_print,
                              "reduced": reduced, "reduced_print": reduced_print, "update": update, "state": state,
                              "state_print": state_print}


def event_record(payload):
    r = Reader(payload)
    rank, step = r.take("iq")
    kind, _, detail = r.text(), r.take("q"), r.text()
    return rank, step, kind, detail


def events(path):
    """[(rank, step, kind, detail)]; detail as the JSON text it is."""
    return [event_record(payload) for kind, payload in frames(path) if kind == EVENT]


def read(path):
    """{(rank, step): values}, {(rank, step, micro): ids}, {(rank, step, name): fields}; all values as raw 64 bits."""
    steps, samples, tensors = {}, {}, {}
    for kind, payload in frames(path):
        if kind == STEP:
            rank, step, values = step_record(payload)
            steps.setdefault((rank, step), {}).update(values)  # an evaluation comes with a record of its own
        elif kind == SAMPLES:
            rank, step, micro, _, ids, hashes = samples_record(payload)
            assert len(hashes) == len(ids)
            samples[rank, step, micro] = ids
        elif kind == TENSOR:
            rank, step, name, fields = tensor_record(payload)
            tensors[rank, step, name] = fields
    return steps, samples, tensors
