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
    r = Reader(payload)
    rank, step = r.take("iq")
    values = {}
    for _ in range(r.take("I")):
        quantity, index, bits = r.take("HHQ")
        values[quantity, index] = bits
    return rank, step, values


def samples_record(payload):
    r = Reader(payload)
    rank, step, micro, epoch = r.take("iqiq")
    ids = [r.take("q") for _ in range(r.take("I"))]
    hashes = [r.take("Q") for _ in range(r.take("I"))]
    return rank, step, micro, epoch, ids, hashes


def tensor_record(payload):
    r = Reader(payload)
    rank, step = r.take("iq")
    name = r.text()
    buffer, has = r.take("BI")
    local, local_print, reduced, reduced_print, update, state, state_print = r.take("QQQQQQQ")
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
            steps[rank, step] = values
        elif kind == SAMPLES:
            rank, step, micro, _, ids, hashes = samples_record(payload)
            assert len(hashes) == len(ids)
            samples[rank, step, micro] = ids
        elif kind == TENSOR:
            rank, step, name, fields = tensor_record(payload)
            tensors[rank, step, name] = fields
    return steps, samples, tensors
